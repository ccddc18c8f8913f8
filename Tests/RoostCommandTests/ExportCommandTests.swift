import Foundation
import Roost
import Testing

@testable import RoostCommand

/// What `roost export` writes, `roost import` reads.
@Suite struct ExportCommandTests {
    private let tool = Tool()

    /// A database with what only revisions tell: a conflict, a deletion, a history, an attachment.
    private func fill() throws {
        let database = try Database.open(tool.path)
        let notes = try database.defaultCollection
        try notes.save(json: #"{"v":1}"#, id: "edited")
        try notes.save(json: #"{"v":2}"#, id: "edited")
        try notes.save(json: #"{"v":1}"#, id: "gone")
        try notes.delete("gone")
        try notes.save(json: #"{"v":"here"}"#, id: "both")
        try database.write { (batch) throws(DatabaseError) in
            try batch.insert(
                json: #"{"v":"there"}"#, id: "both",
                history: [try RevisionID(validating: "1-0123456789abcdef0123456789abcdef")], in: notes)
        }
        var draft = MutableDocument(id: "photo")
        draft.attachments["a.txt"] = Attachment(
            try database.saveBlob(Array("content".utf8), contentType: "text/plain"))
        try notes.save(&draft)
        try database.close()
    }

    @Test(arguments: [".jsonl", ".jsonl.gz"])
    func revisionsComeBackAsTheyWere(name: String) throws {
        try fill()
        let (file, other) = (tool.path + name, Tool())
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(tool.run("export", file, "--with-revisions").status == 0)
        let report = tool.run(["import", other.path, file])
        #expect(report.status == 0 && report.output.contains("5 documents"), "\(report.output)")
        #expect(other.output("export", "--with-revisions") == tool.output("export", "--with-revisions"))
        for id in ["edited", "gone", "both", "photo"] {
            #expect(other.output("revs", id) == tool.output("revs", id))
        }
        let again = tool.run(["import", other.path, file])
        #expect(again.status == 0 && again.output.contains("0 documents"), "\(again.output)")
        #expect(again.output.contains("5 revisions were there already."))
        #expect(other.output("export", "--with-revisions") == tool.output("export", "--with-revisions"))
    }

    /// A dump that names revisions without histories, as `_all_docs` gives it.
    @Test func aRevisionAloneIsKeptOrEdited() throws {
        let file = tool.path + ".jsonl"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let revision = "3-0123456789abcdef0123456789abcdef"
        try Data(#"{"_id":"a","_rev":"\#(revision)","v":1}"#.utf8).write(to: URL(fileURLWithPath: file))
        #expect(tool.run("import", file).status == 0)
        #expect(tool.output("revs", "a").contains(revision))
        try Data(#"{"_id":"a","_rev":"\#(revision)","v":2}"#.utf8).write(to: URL(fileURLWithPath: file))
        #expect(tool.run("import", file).status == 0)
        #expect(tool.output("get", "a").contains(#""v":2"#) && tool.output("get", "a").contains(#""4-"#))
        #expect(tool.run("import", file).output.contains("Line 1: "), "it is a conflict by now")
        #expect(tool.run("import", file, "--revisions", "new").status == 0)
        #expect(tool.output("get", "a").contains(#""5-"#))
    }

    @Test func whatIsNotWholeIsAnError() throws {
        _ = tool.output("put", "a", #"{"v":"\#((0..<2000).map { "\($0 &* 7919)" }.joined())"}"#)
        let file = tool.path + ".jsonl.gz"
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(tool.run("export", file).status == 0)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        #expect(whole.starts(with: [0x1F, 0x8B]))
        for length in [whole.count / 2, whole.count - 1] {
            try whole.prefix(length).write(to: URL(fileURLWithPath: file))
            let report = tool.run(["import", Tool().path, file])
            #expect(report.status == 1 && report.output.contains("can't be decompressed"), "\(report.output)")
        }
        // Members follow each other, as `cat a.gz b.gz` has them.
        try (whole + whole).write(to: URL(fileURLWithPath: file))
        let report = tool.run(["import", Tool().path, file])
        #expect(report.status == 0 && report.output.contains("2 documents"), "\(report.output)")
    }

    @Test func wrongUseIsExplained() {
        _ = tool.output("put", "a", "{}")
        #expect(tool.run("export", "--format", "csv", "--with-revisions").status == 2)
        #expect(tool.run("export", "--format", "xml").status == 2)
    }
}
