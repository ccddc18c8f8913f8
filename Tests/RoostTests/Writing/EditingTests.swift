import Roost
import Testing

@Suite struct EditingTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    @Test func revisionsFollowFromParentDeletionAndContent() throws {
        let first = try notes.save(json: #"{"b":1,"a":[1.0,"é"]}"#, id: "x")
        let same = try notes.save(json: #"{ "a": [1.0, "\u00e9"], "b": 1 }"#, id: "y")
        #expect(first.revision == same.revision, "the order of keys and spaces do not matter")
        #expect(first.revision.generation == 1)
        #expect(first.revision.description.count == 2 + 32)
        // The SHA-256 of 00 00 00 and the canonical form, the first 16 bytes; computed with Python's hashlib.
        #expect(first.revision.description == "1-54b29d4ec62a338ad37732dfdfdedbec")
        let other = try notes.save(json: #"{"b":1,"a":[1,"é"]}"#, id: "z")
        #expect(first.revision != other.revision, "1.0 is not 1")
        let second = try notes.save(json: "{}", id: "x")
        let deletion = try #require(try notes.delete("y"))
        #expect(second.revision.generation == 2)
        #expect(second.revision != deletion.revision, "a deletion is not an empty edit")
    }

    @Test func savingExpectsWhatItIsTold() throws {
        let first = try notes.save(json: #"{"v":1}"#, id: "a", expecting: .absent)
        #expect(code { try notes.save(json: "{}", id: "a", expecting: .absent) } == .conflict)
        let second = try notes.save(json: #"{"v":2}"#, id: "a", expecting: .revision(first.revision))
        #expect(
            code { try notes.save(json: "{}", id: "a", expecting: .revision(first.revision)) } == .conflict)
        #expect(
            code { try notes.save(json: #"{"v":2}"#, id: "a", expecting: .revision(first.revision)) }
                == .conflict)
        #expect(
            code { try notes.save(json: "{}", id: "b", expecting: .revision(first.revision)) } == .conflict)
        #expect(try notes.document("a") == second)
        try notes.save(json: #"{"v":3}"#, id: "a")
        #expect(try notes.document("a")?.revision.generation == 3)
    }

    @Test func deletingLeavesATombstone() throws {
        let saved = try notes.save(json: #"{"v":1}"#, id: "a")
        #expect(code { try notes.delete("a", expecting: .revision(try id("1-aa"))) } == .conflict)
        let tombstone = try #require(try notes.delete("a", expecting: .revision(saved.revision)))
        #expect(tombstone.isDeleted)
        #expect(try notes.document("a") == nil)
        #expect(try !notes.contains("a"))
        #expect(try notes.count == 0)
        #expect(try notes.snapshot().deletedCount == 1)
        #expect(try notes.snapshot().document("a", includingDeleted: true) == tombstone)
        #expect(try notes.delete("a") == nil, "deleting twice changes nothing")
        #expect(try notes.delete("never") == nil)
        #expect(try notes.snapshot().lastSequence == 2)
    }

    @Test func aDeletedDocumentCanBeMadeAgain() throws {
        try notes.save(json: #"{"v":1}"#, id: "a")
        try notes.delete("a")
        let again = try notes.save(json: #"{"v":2}"#, id: "a", expecting: .absent)
        #expect(again.revision.generation == 3)
        #expect(try notes.document("a")?["v"].int == 2)
        #expect(try notes.count == 1)
        #expect(try notes.snapshot().history(of: "a").map(\.generation) == [3, 2, 1])
    }

    @Test func iDsAreMadeWhereNoneIsGiven() throws {
        let one = try notes.save(json: "{}")
        let other = try notes.save(json: "{}")
        #expect(one.id != other.id)
        #expect(one.id.count == 36)
        #expect(try notes.document(one.id) == one)
        #expect(try notes.save(json: #"{"_id":"mine","v":1}"#).id == "mine")
        #expect(try notes.document("mine")?.json() == #"{"v":1}"#)
    }

    @Test(arguments: ["", "_x", String(repeating: "x", count: 2049), "_local/x"])
    func badIDsAreRefused(_ id: String) throws {
        #expect(code { try notes.save(json: "{}", id: id) } == .invalidDocumentID)
        #expect(code { try notes.delete(id) } == .invalidDocumentID)
        #expect(try notes.document(id) == nil)
        #expect(try notes.snapshot().lastSequence == 0)
    }

    @Test(arguments: [
        "", "[]", "1", "null", "{", #"{"a":1,}"#, #"{"a":NaN}"#, #"{"a":1e999}"#, "{} {}", #"{"a":"\ud800"}"#,
    ])
    func whatIsNoObjectIsRefused(_ json: String) throws {
        #expect(code { try notes.save(json: json, id: "a") } == .invalidDocument)
        #expect(try notes.document("a") == nil)
    }

    @Test func illFormedUTF8IsRefused() throws {
        let bytes: [UInt8] = Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        #expect(
            code {
                _ = try notes.database.write {
                    try $0.save(IncomingDocument(json: bytes), id: "a", in: notes)
                }
            }
                == .invalidDocument)
    }

    @Test func nestingHasALimit() throws {
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
                + "}"
        }
        try notes.save(json: nested(512), id: "deep")
        #expect(try notes.document("deep")?.json() == nested(512))
        #expect(code { try notes.save(json: nested(513), id: "deeper") } == .limitExceeded)
    }

    @Test(arguments: [
        #"{"n":[0,-1,9223372036854775807,-9223372036854775808,18446744073709551615]}"#,
        #"{"d":[1.0,-0.5,0.1,1e+300,5e-324,100000.0]}"#, #"{"t":[true,false,null,"","\u0000\"\\","𝄞日本語"]}"#,
        #"{"":{"":[{},[]]}}"#, #"{"a.b":{"$ref":2,"c/d":1}}"#,
    ])
    func jsonComesOutAsItWentIn(_ json: String) throws {
        let saved = try notes.save(json: json, id: "a")
        #expect(saved.json() == json)
        #expect(try notes.document("a")?.json() == json)
    }

    @Test func theLastOfSeveralValuesForAKeyCounts() throws {
        #expect(try notes.save(json: #"{"a":1,"b":2,"a":3}"#).json() == #"{"a":3,"b":2}"#)
    }

    @Test func aLargeDocumentIsADocument() throws {
        let text = String(repeating: "x", count: 8_000_000)
        try notes.save(json: #"{"text":"\#(text)"}"#, id: "large")
        let database = notes.database
        try database.close()
        #expect(
            try files.use { try $0.collection("notes").document("large")?["text"].string?.count } == 8_000_000
        )
    }

    // MARK: Reserved names

    @Test(arguments: ["_sequence", "_removed", "_attachments"])
    func namesOfTheProtocolAreRefused(_ name: String) throws {
        #expect(code { try notes.save(json: #"{"\#(name)":1}"#, id: "a") } == .corruptRevisionData)
        #expect(
            code { try notes.save(json: #"{"\u005f\#(name.dropFirst())":1}"#, id: "a") }
                == .corruptRevisionData)
        try notes.save(json: #"{"a":{"\#(name)":1}}"#, id: "a")
        try notes.save(json: #"{"\#(name)_":1,"_x":2}"#, id: "b")
        #expect(try notes.document("b")?["_x"].int == 2)
    }

    @Test func whatABodySaysOfItselfMustBeTrue() throws {
        let first = try notes.save(json: #"{"_id":"a","v":1}"#, id: "a")
        #expect(code { try notes.save(json: #"{"_id":"b"}"#, id: "a") } == .corruptRevisionData)
        #expect(code { try notes.save(json: #"{"_id":1}"#, id: "a") } == .corruptRevisionData)
        #expect(code { try notes.save(json: #"{"_rev":"x"}"#, id: "a") } == .invalidRevisionID)
        #expect(code { try notes.save(json: #"{"_rev":"1-aa"}"#, id: "a") } == .conflict)
        #expect(
            code { try notes.save(json: #"{"_rev":"1-aa"}"#, id: "a", expecting: .revision(first.revision)) }
                == .corruptRevisionData)
        let second = try notes.save(json: #"{"_id":"a","_rev":"\#(first.revision)","v":2}"#)
        #expect(second.json() == #"{"v":2}"#)
        let gone = try notes.save(json: #"{"_rev":"\#(second.revision)","_deleted":true}"#, id: "a")
        #expect(gone.isDeleted)
        #expect(try notes.document("a") == nil)
    }
}
