import Foundation
import Roost
import Testing

@testable import RoostCommand

/// The commands that read and change documents.
@Suite struct DocumentCommandTests {
    let tool = Tool()

    /// A document with two live leaves, 2-cc before 2-bb.
    private func makeConflict() throws {
        let database = try Database.open(tool.path)
        let collection = try database.defaultCollection
        try database.write { batch in
            for (revision, text) in [("2-bb", "ours"), ("2-cc", "theirs")] {
                let history = try [revision, "1-aa"].map { try RevisionID(validating: $0) }
                try batch.insert(json: "{\"v\":\"\(text)\"}", id: "a", history: history, in: collection)
            }
        }
        try database.close()
    }

    private func revision(_ line: String) throws -> String {
        try String(#require(line.split(whereSeparator: { " \n".contains($0) }).dropFirst().first))
    }

    @Test func putReplacesTheRevisionItIsTold() throws {
        let first = try revision(tool.output("put", "a", #"{"v":1}"#))
        let second = try revision(tool.output("put", "a", #"{"v":2}"#, "--rev", first))
        #expect(second.hasPrefix("2-"))
        let late = tool.run("put", "a", #"{"v":3}"#, "--rev", first)
        #expect(late.status == 1 && late.output.hasPrefix("roost: "))
        #expect(tool.run("put", "a", "{}", "--rev", "second").status == 1)
        #expect(tool.output("get", "a") == "{\"_id\":\"a\",\"_rev\":\"\(second)\",\"v\":2}\n")
    }

    @Test func getReadsLeaves() throws {
        try makeConflict()
        #expect(tool.output("get", "a", "--rev", "2-bb") == #"{"_id":"a","_rev":"2-bb","v":"ours"}"# + "\n")
        #expect(
            tool.output("get", "a", "--conflicts", "--revs")
                == #"{"_id":"a","_rev":"2-cc","v":"theirs","_conflicts":["2-bb"],"_revisions":{"ids":["cc","aa"],"start":2}}"#
                + "\n")
        #expect(
            tool.output("get", "a", "--open-revs").split(separator: "\n").map { $0.contains("2-cc") }
                == [true, false])
        let old = tool.run("get", "a", "--rev", "1-aa")
        #expect(old.status == 1 && old.output.contains("--open-revs"))
        let unknown = tool.run("get", "a", "--rev", "9-aa")
        #expect(unknown.status == 1 && unknown.output.contains("roost revs"))
        #expect(tool.run("get", "a", "--rev", "2-bb", "--open-revs").status == 2)
        let partly = tool.run("get", "none", "a")
        #expect(partly.status == 1 && partly.output.contains("theirs") && partly.output.contains("\"none\""))
        _ = tool.run("rm", "a", "--rev", "2-cc")
        _ = tool.run("rm", "a")
        let gone = tool.run("get", "a")
        #expect(gone.status == 1 && gone.output.contains("deleted") && gone.output.contains("--rev 3-"))
    }

    @Test func revsListsTheTree() throws {
        try makeConflict()
        #expect(tool.output("revs", "a") == "2-cc\t1-aa\twinner\n2-bb\t1-aa\tleaf\n1-aa\t-\t\n")
        #expect(
            tool.output("revs", "a", "--json").hasPrefix(
                #"{"rev":"2-cc","parent":"1-aa","sequence":2,"leaf":true,"winner":true}"#))
        #expect(tool.run("revs", "none").status == 1)
    }

    @Test func resolveLeavesOneLeaf() throws {
        try makeConflict()
        #expect(tool.output("resolve", "a", "--rev", "2-bb") == "a 2-bb\n")
        #expect(tool.output("get", "a", "--conflicts") == #"{"_id":"a","_rev":"2-bb","v":"ours"}"# + "\n")
        #expect(tool.run("resolve", "none").status == 1)
        #expect(tool.output("resolve", "a", #"{"v":"both"}"#).hasPrefix("a 3-"))
        #expect(tool.run("resolve", "a", "{", "--json").status == 1)
    }

    @Test func purgeLeavesNoTrace() throws {
        try makeConflict()
        #expect(tool.output("purge", "a", "--rev", "2-bb") == "a 2-bb\n")
        let nothing = tool.run("purge", "a", "none")
        #expect(nothing.status == 1 && nothing.output.contains("nothing was purged"))
        #expect(tool.output("purge", "a", "--json") == #"{"id":"a","purged":["2-cc"]}"# + "\n")
        #expect(tool.output("changes") == "")
    }

    @Test func expireSetsShowsAndClears() throws {
        _ = tool.run("put", "a", "{}")
        #expect(tool.output("expire", "a") == "a\tnever\n")
        #expect(tool.output("expire", "a", "2096-02-29T12:00:00Z") == "a\t2096-02-29T12:00:00Z\n")
        #expect(tool.output("expire", "--json") == #"{"id":"a","expires":"2096-02-29T12:00:00Z"}"# + "\n")
        #expect(tool.output("expire", "a", "never", "--json") == #"{"id":"a","expires":null}"# + "\n")
        #expect(tool.output("expire") == "")
        #expect(tool.run("expire", "none", "5m").status == 1 && tool.run("expire", "none").status == 1)
        let wrong = tool.run("expire", "a", "soon")
        #expect(wrong.status == 2 && wrong.output.contains("5m"))
        let now = Date(timeIntervalSince1970: 1e9)
        for (text, seconds) in [("90s", 90.0), ("5m", 300), ("12h", 43200), ("30d", 2_592_000)] {
            #expect(try ExpireCommand.date(text, now: now) == now + seconds)
        }
    }

    @Test func catPrintsWhatPatternsTell() throws {
        for id in ["a1", "a2", "b1"] { _ = tool.run("put", id, #"{"n":[1]}"#) }
        func ids(_ output: String) -> [Substring] { output.matches(of: /"_id":"(..)"/).map(\.1) }
        #expect(ids(tool.output("cat")) == ["a1", "a2", "b1"])
        #expect(ids(tool.output("cat", "a*")) == ["a1", "a2"])
        #expect(ids(tool.output("cat", "b1", "a*", "--limit", "1")) == ["b1", "a1"])
        #expect(tool.output("cat", "b1", "--pretty").contains("\n  \"n\": [\n    1\n  ]\n}\n"))
        let missing = tool.run("cat", "a", "c*")
        #expect(missing.status == 1 && missing.output.contains("\"a\", \"c*\""))
        #expect(tool.run("cat", "--pretty", "--compact").status == 2)
    }

    @Test func changesBringDocuments() throws {
        let first = try revision(tool.output("put", "a", #"{"v":1}"#))
        #expect(
            tool.output("changes", "--include-docs")
                == #"{"seq":1,"id":"a","rev":"\#(first)","doc":{"_id":"a","_rev":"\#(first)","v":1}}"# + "\n")
    }
}

// MARK: - CollectionCommandTests

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
