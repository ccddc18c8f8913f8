import Testing

@testable import RoostCommand

@Suite struct CollectionCommandTests {
    let tool = Tool()

    @Test func collectionsAreMadeListedAndRemoved() {
        #expect(tool.run("mkcoll", "notes", "travel.hotels", "notes").status == 0)
        _ = tool.run("put", "a", "{}", "--collection", "travel.hotels")
        #expect(tool.output("lscoll") == "_default._default\t0\n_default.notes\t0\ntravel.hotels\t1\n")
        #expect(
            tool.output("lscoll", "--scope", "travel", "--json")
                == #"{"scope":"travel","name":"hotels","documents":1,"deleted":0,"lastSequence":1}"# + "\n")
        let full = tool.run("rmcoll", "notes", "travel.hotels")
        #expect(full.status == 1 && full.output.contains("--force"))
        #expect(tool.output("lscoll").contains("notes"), "none is removed unless all are")
        #expect(tool.run("rmcoll", "notes", "travel.hotels", "--force").status == 0)
        #expect(tool.output("lscoll") == "_default._default\t0\n")
    }

    @Test func badNamesSayWhatToDo() {
        _ = tool.run("mkcoll", "notes")
        let bad = tool.run("mkcoll", "_notes")
        #expect(bad.status == 1 && bad.output.contains("Begin it with a letter"))
        #expect(tool.run("mkcoll", "").status == 2)
        #expect(tool.run("mkcoll", ".notes").status == 1)
        #expect(tool.run("rmcoll", "none").status == 1)
        #expect(tool.run("rmcoll", "_default").status == 0, "it is made again, empty")
        #expect(tool.run("get", "a", "--collection", "none").status == 1)
        #expect(tool.run("mkcoll").status == 2)
    }

    /// What all commands have in common.
    @Test(arguments: RoostTool.commands.map { $0.name })
    func everyCommandHasHelpAndRefusesWhatItDoesNotKnow(_ name: String) {
        let help = tool.run(name, "--help")
        let parameter = RoostTool.commands.first { $0.name == name }?.parameters.first
        let first = parameter.map { $0.isOptional ? "[\($0.label)]" : $0.label } ?? "?"
        #expect(help.status == 0 && help.output.hasPrefix("Usage: roost \(name) \(first)"))
        let wrong = tool.run(name, "--nonsense")
        #expect(wrong.status == 2 && wrong.output.contains("`roost \(name) --help`"))
    }
}
