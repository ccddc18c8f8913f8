import Dispatch
import Roost
import RoostBytes
import RoostStorage
import Synchronization

/// Maps documents on all cores, keeping their order.
enum IndexMapping {
    /// How many documents are mapped by one call.
    private static let chunkSize = 256

    /// The rows of each of `documents`; none for a document that is `nil`.
    ///
    /// - Throws: what the definition's map throws.
    static func rows(of documents: [IndexedDocument?], _ definition: IndexDefinition) throws -> [[IndexRow]] {
        let chunks = (documents.count + chunkSize - 1) / chunkSize
        guard chunks > 1 else { return try rows(of: documents[...], definition) }
        let results = Mutex([Result<[[IndexRow]], any Error>](repeating: .success([]), count: chunks))
        DispatchQueue.concurrentPerform(iterations: chunks) { chunk in
            let part = documents[chunk * chunkSize..<min((chunk + 1) * chunkSize, documents.count)]
            let mapped = Result { try rows(of: part, definition) }
            results.withLock { $0[chunk] = mapped }
        }
        return try results.withLock { try $0.flatMap { try $0.get() } }
    }

    private static func rows(
        of documents: ArraySlice<IndexedDocument?>, _ definition: IndexDefinition
    ) throws -> [[IndexRow]] {
        let present = documents.compactMap(\.self)
        let mapped = try definition.map(present)
        guard mapped.count == present.count else {
            throw DatabaseError(
                .invalidDocument,
                "The map of \(definition.name) answered for \(mapped.count) of \(present.count) documents.")
        }
        var answers = zip(present, mapped).makeIterator()
        return documents.map { document in
            guard document != nil, let (document, rows) = answers.next() else { return [] }
            return numbered(rows, Array(document.document.id.utf8))
        }
    }

    /// The rows of one document, those of equal keys told apart by their order.
    private static func numbered(_ found: IndexRows, _ id: [UInt8]) -> [IndexRow] {
        var ordinals: [[UInt8]: Int] = [:]
        return found.rows.map { row in
            // Most documents have one row.
            guard found.rows.count > 1 else {
                return IndexRow(component: row.component, documentID: id, ordinal: 0, payload: row.payload)
            }
            let ordinal = ordinals[row.component, default: 0]
            ordinals[row.component] = ordinal + 1
            return IndexRow(component: row.component, documentID: id, ordinal: ordinal, payload: row.payload)
        }
    }
}
