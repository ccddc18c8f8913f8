import Fleece
import Roost
import RoostBytes
import RoostOrder
import RoostSimulation
import Testing

@testable import RoostIndex

@Suite("First builds of indexes") struct IndexBuildTests {
    /// A row for each of a document's words.
    private let words = IndexDefinition(name: "test/words", signature: "1") { documents, _ in
        var rows = IndexRows(of: documents)
        let encoder = KeyEncoder(.binary)
        for index in 0..<documents.count {
            let document = try documents.document(index)
            rows.begin(index)
            for word in document["words"].array ?? .empty {
                encoder.reset()
                try encoder.append(word)
                rows.add(encoder.view, payload: .empty)
            }
        }
        return rows
    }

    @Test("Rows stand in the order of keys that begin alike, then of IDs", arguments: [1_000, 100 << 20])
    func order(memory: Int) throws {
        let database = try Database.open("db", environment: Simulation(seed: 21).environment)
        let notes = try database.collection("notes")
        var settings = IndexSettings()
        settings.buildMemory = memory
        settings.quiet = 1e6
        IndexManager.of(database).configure(settings)
        var random = Random(state: 21)
        var expected: [(word: String, id: String)] = []
        // More than are mapped at once, and some of them deleted.
        try database.write { batch in
            for number in 0..<10_000 {
                let id = "d\(number)"
                let found = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                    let end = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                        Bool.random(using: &random) ? "a" : "b"
                    }
                    return "the same beginning \(end.joined())"
                }
                let list = found.map { "\"\($0)\"" }.joined(separator: ",")
                try batch.save(json: "{\"words\":[\(list)]}", id: id, in: notes)
                if number % 7 == 0 {
                    try batch.delete(id, in: notes)
                } else {
                    expected += found.map { ($0, id) }
                }
            }
        }
        expected.sort { ($0.word, $0.id) < ($1.word, $1.id) }
        try notes.indexes.read(words, of: notes) { reader in
            #expect(try reader.count() == UInt64(expected.count))
            let cursor = reader.cursor()
            for row in expected {
                guard try cursor.next() else { break }
                #expect(cursor.row.documentID.array == Array(row.id.utf8))
                let key = KeyEncoder(.binary)
                key.append(row.word)
                #expect(cursor.row.component.array == key.key)
            }
            #expect(try !cursor.next())
        }
        try database.close()
    }
}
