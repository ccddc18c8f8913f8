import RoostREST
import Testing

/// What the parameters of views, and of lists of documents, mean together.
@Suite struct ViewParameterTests {
    private static func ids(_ answer: TestRouter.Answer) -> [String] {
        (answer["rows"] as? [[String: Any]])?.map { $0["id"] as? String ?? "-" } ?? [answer.text]
    }

    /// 30 documents with the keys 0 to 2.
    private static func thirds() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let documents = (10..<40).map { #"{"_id":"\#($0)","third":\#($0 % 3),"link":{"_rev":"1-00"}}"# }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
        let map = #"{"emit":[{"key":[".third"],"value":[".link"]}]}"#
        try await test.put(
            "/db/_design/v",
            #"{"language":"roost","views":{"n":{"map":\#(map)},"sum":{"map":\#(map),"reduce":"_count"}}}"#)
        return test
    }

    @Test(arguments: [
        ("keys=[0,2]&startkey_docid=21&endkey_docid=27", ["21", "24", "27", "23", "26"]),
        ("keys=[2,0]&start_key_doc_id=33", ["35", "38", "33", "36", "39"]),
        ("key=1&endkey_docid=16", ["10", "13", "16"]),
        ("keys=[0,2]&startkey_docid=27&endkey_docid=21&descending=true", ["26", "23", "27", "24", "21"]),
        ("keys=[0]&startkey_docid=27&endkey_docid=21", []),
        ("keys=[0]&endkey_docid=21&inclusive_end=false", ["12", "15", "18"]),
        ("key=1&inclusive_end=false", []),
        // Without a key they say nothing.
        ("startkey_docid=38&limit=2", ["12", "15"]),
    ])
    func documentsBoundTheRowsOfEachKey(query: String, expected: [String]) async throws {
        let test = try await Self.thirds()
        let answer = try await test.ask("GET", "/db/_design/v/_view/n?\(query)")
        #expect(Self.ids(answer) == expected, "\(answer.text)")
    }

    @Test func documentsBoundWhatIsReduced() async throws {
        let test = try await Self.thirds()
        let answer = try await test.ask(
            "GET", "/db/_design/v/_view/sum?keys=[0,2]&group=true&startkey_docid=21&endkey_docid=27")
        let rows = try #require(answer["rows"] as? [[String: Int]])
        #expect(rows == [["key": 0, "value": 3], ["key": 2, "value": 2]])
    }

    /// What can't be reduced is told in its group, and costs the others nothing.
    @Test(arguments: ["_sum", "_stats"])
    func aGroupThatCannotBeReducedIsToldAlone(reduce: String) async throws {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        let documents = (0..<900).map {
            #"{"_id":"\#(1000 + $0)","k":\#($0 / 300),"v":\#($0 == 450 ? "\"x\"" : "1")}"#
        }
        try await test.ask("POST", "/db/_bulk_docs", "{\"docs\":[\(documents.joined(separator: ","))]}")
        try await test.put(
            "/db/_design/v",
            #"{"language":"roost","views":{"n":{"map":{"emit":[{"key":[".k"],"value":[".v"]}]},"reduce":"\#(reduce)"}}}"#
        )
        func rows(_ parameters: String) async throws -> [String] {
            let answer = try await test.ask("GET", "/db/_design/v/_view/n?\(parameters)")
            let rows = try #require(answer["rows"] as? [[String: Any]], "\(answer.text)")
            return rows.map { row in
                let object = row["value"] as? [String: Any]
                let value = object?["error"] ?? object?["count"] ?? row["value"] ?? "none"
                return "\(row["key"] as? Int ?? -1) \(value)"
            }
        }
        #expect(try await rows("group=true") == ["0 300", "1 builtin_reduce_error", "2 300"])
        #expect(try await rows("group=true&skip=1&limit=2") == ["1 builtin_reduce_error", "2 300"])
        #expect(try await rows("group=true&skip=2") == ["2 300"])
        #expect(try await rows("group=true&descending=true") == ["2 300", "1 builtin_reduce_error", "0 300"])
        #expect(try await rows("") == ["-1 builtin_reduce_error"])
        #expect(try await rows("startkey=2") == ["-1 300"])
    }

    /// A parameter of the address counts, and not the one of the body.
    @Test(arguments: [
        ("_design/v/_view/n?limit=1", #"{"limit":2}"#, ["12"]),
        ("_design/v/_view/n?keys=[1]&limit=2", #"{"keys":[2]}"#, ["10", "13"]),
        ("_design/v/_view/n?startkey=2&limit=1", #"{"start_key":1,"skip":1}"#, ["14"]),
        ("_design/v/_view/n?start_key=2&limit=1", #"{"startkey":1}"#, ["11"]),
        ("_all_docs?limit=1", #"{"limit":2,"skip":1}"#, ["11"]),
        ("_all_docs?keys=[%2212%22]", #"{"keys":["13"]}"#, ["12"]),
        ("_all_docs?descending=true&limit=1", #"{"descending":false}"#, ["_design/v"]),
        ("_design_docs?limit=0", #"{"limit":2}"#, []),
        ("_local_docs?limit=0", #"{"limit":2}"#, []),
    ])
    func theAddressCountsBeforeTheBody(target: String, body: String, expected: [String]) async throws {
        let test = try await Self.thirds()
        try await test.put("/db/_local/x", "{}")
        let answer = try await test.ask("POST", "/db/\(target)", body)
        #expect(Self.ids(answer) == expected, "\(answer.text)")
    }

    /// A row leads to the revision that its value names, also where that names no document.
    @Test func rowsLeadToTheRevisionThatTheyName() async throws {
        let test = try await Self.thirds()
        try await test.ask(
            "POST", "/db/_bulk_docs",
            #"{"new_edits":false,"docs":[{"_id":"12","_rev":"1-00","other":true}]}"#)
        let answer = try await test.ask(
            "GET", "/db/_design/v/_view/n?include_docs=true&key=0&startkey_docid=12&endkey_docid=18")
        let rows = try #require(answer["rows"] as? [[String: Any]], "\(answer.text)")
        let found = rows.map { row in (row["doc"] as? [String: Any])?["_rev"] as? String }
        #expect(found == ["1-00", nil, nil], "\(answer.text)")
    }
}
