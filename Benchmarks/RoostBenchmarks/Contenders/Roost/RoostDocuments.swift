import Fleece
import Roost

/// Documents of the document layer: JSON texts as they come, and Codable values in typed collections.
final class RoostDocuments: DocumentContender {
    private let database: Database
    private let tables: [NoteTable: DocumentCollection]
    private let records: TypedCollection<NoteRecord>
    private let summaries: TypedCollection<NoteSummary>

    init(_ directory: String) throws {
        database = try Database.open(directory)
        var tables: [NoteTable: DocumentCollection] = [:]
        for table in NoteTable.allCases { tables[table] = try database.collection(table.rawValue) }
        self.tables = tables
        records = try database.collection(NoteTable.records.rawValue, of: NoteRecord.self)
        summaries = TypedCollection(records.documents)
    }

    func insert(_ notes: ArraySlice<Note>, into table: NoteTable) throws {
        try database.write {
            try $0.save(
                contentsOf: notes.indices.lazy.map { (notes[$0].id, notes[$0].json) }, in: tables[table]!)
        }
    }

    func insert(_ values: ArraySlice<NoteRecord>) throws {
        try database.write { batch in
            for value in values { try batch.save(value, in: records.documents) }
        }
    }

    func update(_ notes: ArraySlice<Note>) throws {
        try database.write { batch in
            for note in notes { try batch.save(json: note.json, id: note.id, in: tables[.texts]!) }
        }
    }

    func record(_ id: String) throws -> NoteRecord? { try records.document(id)?.value }

    func summary(_ id: String) throws -> NoteSummary? { try summaries.document(id)?.value }

    func sum() throws -> Int {
        let cursor = try tables[.texts]!.snapshot().cursor()
        var sum = 0
        while let document = try cursor.next() { sum += document["n"].int ?? 0 }
        return sum
    }

    func close() throws { try database.close() }
}
