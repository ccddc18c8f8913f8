import Dispatch
import Roost
import RoostBytes
import Synchronization

/// Maps documents on all cores, keeping their order.
enum IndexMapping {
    /// The rows of one document.
    static func rows(of document: IndexedDocument, _ definition: IndexDefinition) -> [IndexRow] {
        var found = IndexRows()
        definition.map(document, &found)
        let id = Array(document.document.id.utf8)
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

    /// The rows of each of `documents`; none for a document that is `nil`.
    static func rows(of documents: [IndexedDocument?], _ definition: IndexDefinition) -> [[IndexRow]] {
        guard documents.count > chunkSize else {
            return documents.map { $0.map { rows(of: $0, definition) } ?? [] }
        }
        let chunks = (documents.count + chunkSize - 1) / chunkSize
        let results = Mutex([[[IndexRow]]](repeating: [], count: chunks))
        DispatchQueue.concurrentPerform(iterations: chunks) { chunk in
            let part = documents[chunk * chunkSize..<min((chunk + 1) * chunkSize, documents.count)]
            let mapped = part.map { $0.map { rows(of: $0, definition) } ?? [] }
            results.withLock { $0[chunk] = mapped }
        }
        return results.withLock { Array($0.joined()) }
    }

    private static let chunkSize = 256
}
