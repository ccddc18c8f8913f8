import Foundation
import Testing

@testable import Roost

/// Documents as large, wide, deep and old as they get, and what is answered beyond that.
@Suite struct LimitsTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    @Test func aHundredMegabytesAreADocument() throws {
        let count = 100_000_000
        var json = Array(#"{"before":1,"text":""#.utf8)
        json += [UInt8](repeating: UInt8(ascii: "x"), count: count)
        json += Array(#"","zone":2}"#.utf8)
        let body = json
        _ = try notes.database.write { try $0.save(IncomingDocument(json: body), id: "large", in: notes) }
        try notes.database.close()
        try files.use { database in
            let large = try #require(try database.collection("notes").document("large"))
            #expect(large["before"].int == 1 && large["zone"].int == 2)
            #expect(large["text"].string?.utf8.count == count)
        }
    }

    @Test func tenThousandLeavesAreAllThatADocumentTakes() throws {
        func history(_ number: Int) throws -> [RevisionID] {
            try ids("2-\(String(repeating: "0", count: 32 - "\(number)".count))\(number) 1-aa")
        }
        let database = notes.database
        let most = RevisionTree.maximumLeafCount
        try database.write { batch in
            for number in 1..<most {
                try batch.insert(
                    json: "{}", id: "contested", history: try history(number), isDeleted: number % 2 == 0,
                    in: notes)
            }
        }
        func insert(_ history: [RevisionID]) throws {
            try database.write { try $0.insert(json: "{}", id: "contested", history: history, in: notes) }
        }
        try insert(try history(most))
        let error = #expect(throws: DatabaseError.self) { try insert(try history(most + 1)) }
        #expect(error?.code == .limitExceeded)
        #expect(try notes.snapshot().leaves(of: "contested").count == most)
        // What continues a leaf, or is known, is no leaf more; and one that is purged makes room.
        try insert(try ids("3-ff") + history(1))
        try insert(try history(2))
        try notes.purge("contested", revisions: [try history(4)[0]])
        try insert(try history(most + 1))
        try database.close()
    }

    @Test func aMillionKeysAreADocument() throws {
        let count = 1_000_000
        var json = Array("{".utf8)
        json.reserveCapacity(count * 20)
        for number in 0..<count { json += Array("\(number == 0 ? "" : ",")\"k\(number)\":\(number)".utf8) }
        json.append(UInt8(ascii: "}"))
        let body = json
        let saved = try notes.database.write {
            try $0.save(IncomingDocument(json: body), id: "wide", in: notes)
        }
        #expect(saved.properties.count == count)
        let read = try #require(try notes["wide"])
        for number in [0, 7, 65_536, 999_999] { #expect(read["k\(number)"].int == number) }
        #expect(!read.contains("k1000000"))
    }

    @Test func aMillionRevisionsArriveAndAreCutToTheLimit() throws {
        let digest = try id("1-aa").digest
        let history = (1...1_000_000).reversed().map { RevisionID(generation: $0, digest: digest) }
        try notes.database.write { batch in
            try batch.insert(json: #"{"v":1}"#, id: "old", history: history, in: notes)
        }
        #expect(try notes.snapshot().history(of: "old") == Array(history.prefix(1000)))
        let edited = try notes.save(json: #"{"v":2}"#, id: "old", expecting: .revision(history[0]))
        #expect(edited.revision.generation == 1_000_001)
        #expect(try notes.snapshot().history(of: "old").count == 1000)
        #expect(
            try !notes.insert("old", "1000000-aa 999999-aa 999998-aa"), "what is kept is still recognised")
    }

    @Test func theHighestGenerationCannotBeEdited() throws {
        try notes.insert("old", "\(RevisionID.maximumGeneration)-aa")
        #expect(code { try notes.save(json: "{}", id: "old") } == .limitExceeded)
        #expect(code { try notes.delete("old") } == .limitExceeded)
        #expect(try notes["old"] != nil)
        try notes.purge("old")
    }

    private final class Box: Encodable {
        var inner: Box?
        init(depth: Int) { inner = depth > 1 ? Box(depth: depth - 1) : nil }
    }

    @Test func nestingHasTheSameLimitForTypesAndValues() throws {
        func nested(_ depth: Int) -> DocumentValue {
            (1..<depth).reduce(DocumentValue.dictionary([:])) { inner, _ in ["inner": inner] }
        }
        #expect(try notes.save(Box(depth: 512)).json().count == 511 * 10 + 2)
        #expect(code { try notes.save(Box(depth: 513)) } == .limitExceeded)
        var draft = MutableDocument(nested(512).dictionary ?? [:])
        try notes.save(&draft)
        draft.properties = nested(513).dictionary ?? [:]
        #expect(code { try notes.save(&draft) } == .limitExceeded)
        #expect(code { _ = try draft.json() } == .limitExceeded)
        #expect(
            code { _ = try DocumentValue(json: String(repeating: "[", count: 1_000_000)) } == .limitExceeded)
        #expect(try notes.count == 2, "nothing was saved of the others")
    }

    @Test(arguments: [
        #"{"a":1,"b":2,"a":3}"#: #"{"a":3,"b":2}"#, #"{"a":{"x":1},"a":{"y":2}}"#: #"{"a":{"y":2}}"#,
        #"{"a":1,"\u0061":2}"#: #"{"a":2}"#, #"{"é":1,"e\u0301":2}"#: "{\"e\u{301}\":2,\"é\":1}",
    ])
    func ofDuplicateKeysTheLastCounts(_ json: String, _ stored: String) throws {
        #expect(try notes.save(json: json).json().utf8.elementsEqual(stored.utf8))
    }

    @Test func ofDuplicateReservedKeysTheLastCounts() throws {
        #expect(try notes.save(json: #"{"_id":"a","_id":"b","v":1}"#).id == "b")
    }

    @Test(arguments: [Double.nan, .signalingNaN, .infinity, -.infinity])
    func numbersThatAreNotFiniteAreRefused(_ number: Double) throws {
        var draft = MutableDocument(["n": .double(number)])
        #expect(code { try notes.save(&draft) } == .invalidDocument)
        #expect(code { try notes.save(["n": number]) } == .invalidDocument)
        #expect(code { try notes.save(["n": Float(number)]) } == .invalidDocument)
        #expect(code { _ = try draft.json() } == .invalidDocument)
        #expect(try notes.count == 0)
    }

    /// Overlong, truncated, a surrogate, beyond Unicode, a lone continuation: in a value and in a key.
    @Test(
        arguments: [[0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80]]
            as [[UInt8]])
    func illFormedTextIsRefused(_ bytes: [UInt8]) throws {
        for (start, end) in [("{\"k\":\"", "\"}"), ("{\"", "\":1}")] {
            let json = Array(start.utf8) + bytes + Array(end.utf8)
            #expect(
                code { _ = try notes.database.write { try $0.save(IncomingDocument(json: json), in: notes) } }
                    == .invalidDocument)
        }
    }

    /// The limit counts before any compression; what is over it could not be read again.
    @Test func aBodyIsMeasuredAsItIsStored() throws {
        let body = try BodyMaker().document(json: #"{"text":"0123456789"}"#.utf8).body
        var bytes: [UInt8] = []
        body.append(to: &bytes)
        try body.checkLength(limit: bytes.count)
        #expect(code { try body.checkLength(limit: bytes.count - 1) } == .limitExceeded)
        try body.checkLength()
    }
}
