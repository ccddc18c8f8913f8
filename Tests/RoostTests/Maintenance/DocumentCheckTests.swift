import Foundation
import RoostStorage
import Testing

@testable import Roost

/// A check compares all that a database says of its documents, and names the documents that something is wrong with.
@Suite struct DocumentCheckTests {
    private let place: TemporaryDatabase
    private let database: Database
    private let notes: DocumentCollection

    init() throws {
        place = try TemporaryDatabase()
        database = try place.open()
        notes = try database.collection("notes")
        try database.write { batch in
            for number in 0..<20 { try batch.save(json: #"{"v":\#(number)}"#, id: "d\(number)", in: notes) }
            try batch.delete("d19", in: notes)
            try batch.setExpiration(Date(timeIntervalSince1970: 4e9), of: "d2", in: notes)
            for revision in ["2-bb", "2-cc"] {
                let history = try ids("\(revision) 1-aa")
                try batch.insert(json: #"{"v":"\#(revision)"}"#, id: "torn", history: history, in: notes)
            }
        }
    }

    /// What a check says, without the collection's name.
    private func findings() throws -> [String] {
        let report = try database.check()
        #expect(!report.isClean && !report.isSound)
        return report.findings.map { "\($0)".replacing(" of collection _default.notes", with: "") }
    }

    /// Changes the trees behind the documents' back.
    private func tamper(_ body: (CollectionWriter) throws -> Void) throws {
        try database.write { batch in try body(batch.writer(notes)) }
    }

    @Test func aWholeDatabaseIsClean() throws {
        let report = try database.check()
        #expect(report.isClean && report.isSound)
        #expect(report.documents == 21)
    }

    @Test func changesAndDocumentsAreCompared() throws {
        let sequence = try #require(try notes.document("d3")).sequence
        try tamper { try $0.transaction.delete(Key(Sequences.key(sequence)), in: notes.trees.changes) }
        #expect(try findings() == ["document \"d3\": it is not among the changes"])

        try tamper { try $0.transaction.delete("d4", in: notes.trees.documents) }
        #expect(
            try findings().contains("document \"d4\": it is among the changes and not among the documents"))
    }

    @Test func aChangeThatSaysSomethingElseIsNoticed() throws {
        let sequence = try #require(try notes.document("d3")).sequence
        let other = try #require(try notes.document("d4")).sequence
        try tamper { writer in
            let changes = notes.trees.changes
            let entry = try #require(
                try Sequences.key(other).withView { key in
                    try writer.transaction.withEntry(key, in: changes) { ($0.array, $1) }
                })
            let value = try #require(entry.1)
            try Sequences.key(sequence).withView { key in
                try entry.0.withView { inline in
                    try writer.transaction.put(key, inline: inline, value: value, owns: false, in: changes)
                }
            }
        }
        let found = try findings()
        #expect(
            found.first == "document \"d3\": the change with its sequence, \(sequence), says something else")
        #expect(found.contains("document \"d4\": it is among the changes twice"))
    }

    @Test func whatDocumentsNeedBesideThemIsLookedFor() throws {
        try tamper { writer in
            try writer.transaction.delete(ExtrasKey.allRevisions, in: notes.trees.extras)
            try writer.transaction.delete(ExtrasKey.allExpirations, in: notes.trees.extras)
        }
        #expect(
            try findings() == [
                "document \"d2\": its expiration is not among those to come",
                "document \"torn\": the body of its revision 2-bb can't be read",
            ])
    }

    @Test func whatIsOfNoDocumentIsNoticed() throws {
        try tamper { writer in
            try writer.put([], under: Key("gone").bytes.withView { ExtrasKey.expiration(7, $0) })
            try writer.put([], under: Key("gone").bytes.withView { ExtrasKey.revisions(of: $0) })
            writer.record.liveCount = 3
            writer.record.lastSequence = 1
        }
        let found = try findings()
        #expect(found.count == 4)
        #expect(found.contains("collection _default.notes: it counts 3 documents and has 20"))
    }

    @Test func missingAndDamagedBlobsAreNamedWithTheirDocuments() throws {
        let blobs = try (0..<3).map { try database.saveBlob(Array("blob \($0)".utf8)) }
        var draft = MutableDocument(id: "album")
        draft.attachments["photo"] = Attachment(blobs[0])
        try notes.save(&draft)
        try notes.save(json: #"{"pictures":[{"inner":\#(blobs[1].value.json())}]}"#, id: "page")
        // Reads like a reference, and is none.
        try notes.save(json: #"{"text":"sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="}"#, id: "text")
        #expect(try database.check().isClean && database.verifyBlobs().isClean)

        func file(_ blob: Blob) -> String {
            place.path + "/blobs/" + blob.digest.dropFirst(5).replacing("/", with: "_") + ".blob"
        }
        try FileManager.default.removeItem(atPath: file(blobs[0]))
        try Data("blub 1".utf8).write(to: URL(fileURLWithPath: file(blobs[1])))
        let report = try database.verifyBlobs()
        #expect(!report.isClean && report.count == 2 && report.damaged.count == 1)
        #expect(report.documents.map(\.id) == ["album", "page"])
        #expect(report.documents.map(\.blob) == blobs.prefix(2).map(\.digest))
        let check = try database.check()
        #expect(!check.isClean && !check.isSound)
        #expect(
            check.findings.map(\.what) == [
                "its blob \(blobs[0].digest) is missing", "its blob \(blobs[1].digest) is damaged",
            ])
        #expect(try Database.check(place.path).findings == check.findings, "also from outside")
    }

    @Test func damagedBytesAreNamedByDocument() throws {
        try notes.save(json: #"{"text":"swifts nest in gables"}"#, id: "swifts")
        try database.close()
        let file = URL(fileURLWithPath: place.path).appending(path: "data.roost")
        var bytes = try Data(contentsOf: file)
        let offset = try #require(bytes.range(of: Data("swifts nest".utf8))).lowerBound
        bytes[offset] ^= 1
        try bytes.write(to: file)
        let report = try Database.check(place.path)
        #expect(
            report.findings.map { "\($0)" } == [
                "document \"swifts\" of collection _default.notes: its body can't be read"
            ])
        #expect(!report.file.isClean)
    }
}
