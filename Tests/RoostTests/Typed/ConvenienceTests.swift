import Foundation
import Roost
import RoostStorage
import Testing

/// Shorter ways to what other calls do, too.
@Suite struct ConvenienceTests {
    private let files: TemporaryDatabase
    private let database: Database
    private let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes")
    }

    private enum Size: String, DocumentValueConvertible { case small, large }

    // MARK: Drafts

    @Test func variablesOfAllTypesAreAssigned() throws {
        let (text, number, truth, double) = ("Swifts", 3, true, 2.5)
        let (date, decimal, uuid) = (Date(), Decimal(string: "19.99")!, UUID())
        let missing: String? = nil
        var draft = MutableDocument(id: "n", ["gone": 1])
        draft["text"] = text
        draft["number"] = number
        draft["byte"] = UInt8(200)
        draft["large"] = UInt64.max
        draft["truth"] = truth
        draft["double"] = double
        draft["float"] = Float(0.5)
        draft["date"] = date
        draft["decimal"] = decimal
        draft["uuid"] = uuid
        draft["data"] = Data([0, 255])
        draft["url"] = URL(string: "https://example.org/a")
        draft["size"] = Size.large
        draft["list"] = [text, "Owls"]
        draft["table"] = ["a": number]
        draft["gone"] = missing
        draft["deep"]["er"] = text
        draft[path: "deep.est"] = number
        draft["value"] = DocumentValue.null
        try notes.save(&draft)

        var read = try #require(try notes.document("n")).mutableCopy()
        #expect(read["text"] == text && read["number"] == number && read["truth"] == truth)
        #expect(read["byte"] == UInt8(200) && read["large"] == UInt64.max)
        #expect(read["double"] == double && read["float"] == Float(0.5))
        #expect(read["date"] == date && read["decimal"] == decimal && read["uuid"] == uuid)
        #expect(read["data"] == Data([0, 255]) && read["url"] == URL(string: "https://example.org/a"))
        #expect(read["size"] == Size.large)
        #expect(read["list"] == [text, "Owls"] && read["table"] == ["a": number])
        #expect(!read.contains("gone") && read["value"].isNull)
        #expect(read["deep"]["er"] == text && read[path: "deep.est"] == number)
        // Of another kind.
        #expect(read["text"] as Int? == nil && read["number"] as UInt8? == 3 && read["large"] as Int? == nil)
        #expect(read["list"] as [Int]? == nil && read["size"] as Date? == nil)
        read["number"] = nil
        #expect(!read.contains("number"))
    }

    @Test func whatCannotBeStoredIsAnErrorAndStays() throws {
        var draft = MutableDocument(id: "n")
        draft["when"].date = Date(timeIntervalSince1970: 1e12)
        #expect(draft.contains("when") && draft["when"].date == nil)
        let error = #expect(throws: DatabaseError.self) { try notes.save(&draft) }
        #expect(error?.code == .invalidDocument)
        #expect(error?.message.contains("the years 0 to 9999") == true)
        draft["when"] = Decimal.nan
        #expect(throws: DatabaseError.self) { try notes.save(&draft) }
        draft["when"] = Date.distantFuture
        try notes.save(&draft)
        #expect(try notes["n"]?.date("when") == .distantFuture)
    }

    @Test func draftsAreSavedAsExpected() async throws {
        let first = try await notes.save(json: #"{"v":1}"#, id: "n")
        var draft = MutableDocument(id: "n", ["v": 2])
        await #expect(throws: DatabaseError.self) { try await notes.save(&draft, expecting: .absent) }
        try await notes.save(&draft, expecting: .revision(first.revision))
        draft["v"] = 3
        try await notes.save(&draft)
        var other = MutableDocument(id: "n", ["v": 4])
        try await notes.save(&other, expecting: .any)
        #expect(try notes["n"]?["v"].int == 4)
    }

    @Test func tasksWriteWithStateOfTheirOwn() async throws {
        struct Stop: Error {}
        var draft = MutableDocument(id: "n", ["v": 1])
        let notes = notes
        let saved = try await database.write(updating: &draft) { batch, draft in
            try batch.save(&draft, in: notes)
        }
        #expect(draft.revision == saved.revision)
        await #expect(throws: Stop.self) {
            try await database.write(updating: &draft) { batch, draft in
                draft["v"] = 2
                try batch.save(&draft, in: notes)
                throw Stop()
            }
        }
        #expect(draft.revision == saved.revision && draft["v"] == 1)
    }

    // MARK: Reading

    @Test func snapshotsAreSequences() async throws {
        for number in 0..<300 { try await notes.save(json: "{}", id: "n\(1000 + number)") }
        try await notes.delete("n1007")
        var ids: [String] = []
        for try await document in try notes.snapshot() { ids.append(document.id) }
        #expect(ids == (1000..<1300).filter { $0 != 1007 }.map { "n\($0)" })
    }

    @Test func revisionsTellAttachmentsAndConflicts() throws {
        var draft = MutableDocument(id: "n")
        draft.attachments["a"] = Attachment(try database.saveBlob(Data([1])))
        let winner = try notes.save(&draft)
        try notes.insert("n", "1-00")
        try notes.insert("n", "1-01", deleted: true)
        let revisions = try notes.snapshot().revisions(of: "n")
        #expect(revisions.filter(\.hasAttachments).map(\.id) == [winner.revision])
        #expect(revisions.filter(\.isConflict).map { "\($0.id)" } == ["1-00"])
    }

    // MARK: Blobs

    @Test func blobsComeFromDataFilesAndTasks() async throws {
        let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
        let file = URL(fileURLWithPath: files.directory + "/picture.jpg")
        try content.write(to: file)
        let blob = try await database.saveBlob(contentsOf: file, contentType: "image/jpeg")
        #expect(blob.length == 1_000_000 && blob.contentType == "image/jpeg")
        #expect(try database.blobReader(blob)?.readAll() == Array(content))
        let (halves, bytes) = (content[..<500_000] + content[500_000...], Array(content))
        #expect(try await database.saveBlob(halves, contentType: "image/jpeg") == blob)
        #expect(try await database.saveBlob(bytes, contentType: "image/jpeg") == blob)
        #expect(try database.blobs().count == 1)
        let missing = await #expect(throws: DatabaseError.self) {
            try await database.saveBlob(contentsOf: URL(fileURLWithPath: files.directory + "/none"))
        }
        #expect(missing?.code == .notFound)
    }

    // MARK: The ordered store

    @Test func treesTakeTextAndDataAndAreSequences() async throws {
        let store = try Store.open(files.directory + "/people.roost")
        let people = try store.tree("people")
        try store.write { transaction in
            try transaction.put("ada", "Lovelace", in: people)
            try transaction.put("alan", Data("Turing".utf8), in: people)
            try transaction.put("grace", "Hopper".dropFirst(0), in: people)
        }
        var found: [String] = []
        for try await (key, value) in try store.snapshot()[people] {
            found.append("\(key.string ?? "?") \(String(decoding: value, as: UTF8.self))")
        }
        #expect(found == ["ada Lovelace", "alan Turing", "grace Hopper"])
        let names = try store.snapshot()[people].entries(reversed: true, limit: 2).map(\.key.string)
        #expect(names == ["grace", "alan"])
        try store.close()
    }
}
