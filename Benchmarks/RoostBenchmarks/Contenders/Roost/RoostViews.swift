import Fleece
import Foundation
import Roost
import RoostQuery

/// A view of the document layer, with a key of two elements and a sum.
final class RoostViews: ViewContender {
    private let database: Database
    private let documents: DocumentCollection
    private let view: CollectionView<[FleeceValue], Int>
    private let path: String

    init(_ directory: String) throws {
        path = directory
        database = try Database.open(directory)
        documents = try database.defaultCollection
        view = documents.view(Self.byGroup("by-group"))
    }

    /// The view, under a name.
    static func byGroup(_ name: String) -> MapReduceView<[FleeceValue], Int> {
        MapReduceView(name, version: "1", reduce: .sum) { note, emit in
            let n = note["n"]
            emit([note["group"], n], n.int ?? 0)
        }
    }

    func save(_ notes: some Collection<Note>) throws {
        var rest = notes[...]
        while !rest.isEmpty {
            try database.write { batch in
                for note in rest.prefix(1_000) {
                    _ = try batch.save(json: note.json, id: note.id, in: documents)
                }
            }
            rest = rest.dropFirst(1_000)
        }
    }

    func commit(_ note: Note) throws { _ = try documents.save(json: note.json, id: note.id) }

    func build() throws { try view.update() }

    func catchUp() throws { try view.update() }

    private func key(_ group: String, _ n: Int) throws -> [FleeceValue] {
        let key = try FleeceDocument(json: "[\"\(group)\",\(n)]")
        return [key[0], key[1]]
    }

    func count(group: String, _ range: Range<Int>) throws -> Int {
        try view.count(from: key(group, range.lowerBound), to: key(group, range.upperBound - 1))
    }

    func entries(group: String, from n: Int, limit: Int) throws -> Int {
        try view.rows(from: key(group, n), limit: limit).count
    }

    func groups() throws -> [Int] { try view.groups(by: .level(1)).map { $0.value.int ?? 0 } }

    func size() throws -> Int { FileTree.size(of: path + "/derived") }

    func close() throws { try database.close() }

    /// Opens the database, with this many views that were read before.
    static func open(_ directory: String, views: Int) throws -> Database {
        let database = try Database.open(directory)
        let documents = try database.defaultCollection
        for number in 0..<views { _ = documents.view(byGroup("view \(number)")) }
        return database
    }
}
