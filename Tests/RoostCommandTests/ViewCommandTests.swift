import Testing

@testable import RoostCommand

@Suite struct ViewCommandTests {
    let tool = Tool()

    init() {
        for (id, json) in [
            ("a", #"{"n":2,"t":"x"}"#), ("b", #"{"n":1,"t":"x"}"#), ("c", #"{"n":3,"t":"y"}"#),
        ] {
            _ = tool.run("put", id, json)
        }
        _ = tool.run(
            "put", "_design/idx",
            #"""
            {"language":"query","views":{"by-t":{"map":{"fields":{"t":"asc","n":"asc"}},"reduce":"_count",
            "options":{"def":{"fields":["t","n"]}}}}}
            """#)
    }

    @Test func rowsAndGroupsArePrintedAsJSONLines() {
        #expect(
            tool.output("view", "idx/by-t", "--no-reduce", "--from", #"["x",2]"#)
                == #"""
                {"id":"a","key":["x",2],"value":null}
                {"id":"c","key":["y",3],"value":null}

                """#)
        #expect(tool.output("view", "idx/by-t") == #"{"key":null,"value":3}"# + "\n")
        #expect(
            tool.output("view", "idx/by-t", "--group-level", "1")
                == #"{"key":["x"],"value":2}"# + "\n" + #"{"key":["y"],"value":1}"# + "\n")
        #expect(
            tool.output("view", "idx/by-t", "--docs", "--key", #"["y",3]"#).contains(#""doc":{"_id":"c""#))
    }

    @Test func viewsAreListed() {
        #expect(tool.output("view") == "idx/by-t\tquery\n")
    }

    @Test func whatIsWrongIsSaid() {
        #expect(tool.run("view", "idx").status == 2)
        #expect(tool.run("view", "idx/none").output.contains("has no view"))
        #expect(tool.run("view", "idx/by-t", "--from", "x").status == 2)
        let reversed = tool.run("view", "idx/by-t", "--from", "2", "--to", "1")
        #expect(reversed.status == 1 && reversed.output.contains("ends before it begins"))
    }
}
