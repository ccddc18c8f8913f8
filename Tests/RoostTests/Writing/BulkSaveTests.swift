import Roost
import Testing

/// Documents that are saved many at a time.
@Suite struct BulkSaveTests {
    let files: TemporaryDatabase
    let database: Database
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes")
    }

    /// A text for a document, old or new, which says more of itself now and then.
    private func text(_ generator: inout SeededGenerator) -> (id: String?, json: String) {
        let name = "d\(Int.random(in: 0..<300, using: &generator))"
        let padding = String(repeating: "é", count: Int.random(in: 0..<400, using: &generator))
        let body = #""v":\#(Int.random(in: 0..<50, using: &generator)),"text":"\#(padding)""#
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: return (nil, #"{"_id":"\#(name)",\#(body),"_deleted":true}"#)
        case 1: return (name, #"{"_attachments":{"a":{"data":"eA==","content_type":"text/plain"}},\#(body)}"#)
        case 2: return (name, #"{"_id":"\#(name)",\#(body),"_local_seq":7}"#)
        case 3: return (name, #"{\#(body),"_id":"\#(name)"}"#)
        case 4, 5: return (nil, #"{"_id":"\#(name)",\#(body)}"#)
        default: return (name, "{\(body)}")
        }
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func theyAreWhatTheyAreOneByOne(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let single = try database.collection("single")
        for _ in 0..<3 {
            let texts = (0..<200).map { _ in text(&generator) }
            let changes = try database.write { try $0.save(contentsOf: texts, in: notes) }
            var documents: [Document] = []
            try database.write { batch in
                for (id, json) in texts { documents.append(try batch.save(json: json, id: id, in: single)) }
            }
            #expect(changes.map(\.id) == documents.map(\.id))
            #expect(changes.map(\.revision) == documents.map(\.revision))
            #expect(changes.map(\.sequence) == documents.map(\.sequence))
            #expect(changes.map(\.isDeleted) == documents.map(\.isDeleted))
            #expect(changes.map(\.hasAttachments) == documents.map { !$0.attachments.isEmpty })
            for collection in [notes, single] {
                try database.write { batch in
                    var same = SeededGenerator(seed: seed)
                    for _ in 0..<20 { try collection.change(batch, &same) }
                }
            }
            #expect(try notes.snapshot().content() == single.snapshot().content())
        }
        #expect(try database.check().isClean)
    }

    @Test func thoseWithoutANameGetOne() throws {
        let changes = try database.write {
            try $0.save(contentsOf: (0..<1000).map { (nil, #"{"n":\#($0)}"#) }, in: notes)
        }
        #expect(Set(changes.map(\.id)).count == 1000)
        for (number, change) in changes.enumerated() {
            #expect(try notes.document(change.id)?["n"].int == number)
        }
    }

    /// The text that is no object comes after others that are too many to be parsed at once.
    @Test func theFirstThatCannotBeSavedIsTold() throws {
        let padding = String(repeating: "x", count: 1000)
        var texts = (0..<500).map { (id: String?.some("\($0)"), json: #"{"p":"\#(padding)"}"#) }
        texts[300].json = "[]"
        texts[400].json = #"{"_id":"another"}"#
        #expect(
            code { _ = try database.write { try $0.save(contentsOf: texts, in: notes) } } == .invalidDocument)
        #expect(try notes.count == 0)
        try database.write { batch in
            #expect(code { try batch.save(contentsOf: texts, in: notes) } == .invalidDocument)
            #expect(code { try batch.save(contentsOf: texts[400...], in: notes) } == .corruptRevisionData)
            #expect(code { try batch.save(contentsOf: [("_x", "{}")], in: notes) } == .invalidDocumentID)
        }
        #expect(try notes.count == 300)
    }

    /// Texts are asked for as they are stored, not all of them before.
    @Test func theSequenceIsAskedForAFewAtATime() throws {
        let padding = String(repeating: "x", count: 10_000)
        var asked = 0
        let texts = (0..<10_000).lazy.map { number in
            asked += 1
            return (id: String?.some("\(number)"), json: number == 50 ? "?" : #"{"p":"\#(padding)"}"#)
        }
        #expect(
            code { _ = try database.write { try $0.save(contentsOf: texts, in: notes) } } == .invalidDocument)
        #expect(asked < 150)
    }

    @Test func tasksSaveThemToo() async throws {
        let changes = try await database.write { [notes] in
            try $0.save(contentsOf: (0..<300).map { ("\($0)", #"{"n":\#($0)}"#) }, in: notes)
        }
        #expect(changes.count == 300)
        #expect(try notes.document("299")?["n"].int == 299)
    }

    /// Inputs take different times, and results are still in the order of the inputs.
    @Test(arguments: [1, 2, 5])
    func whatIsDoneAheadComesInOrder(threads: Int) {
        let ahead = WorkAhead<Int, [Int]>(threads: threads) { number in
            (0..<(number * 7919 % 500)).reduce(into: [number]) { $0[0] &+= $1 &- $1 }
        }
        var (added, taken) = (0, 0)
        while taken < 2000 {
            while added < 2000, ahead.count < ahead.depth + taken % 3 {
                ahead.add(added)
                added += 1
            }
            #expect(ahead.next() == [taken])
            taken += 1
        }
        #expect(ahead.next() == nil)
    }
}
