import Dispatch
import Roost
import Synchronization

/// Maps documents on all cores, keeping their order.
enum IndexMapping {
    /// How many documents are mapped by one call.
    private static let chunkSize = 256

    /// The rows of `documents`, which are of one moment, in runs.
    ///
    /// - Throws: what the definition's map throws.
    static func runs(
        of documents: [Document], _ moment: CollectionSnapshot, _ definition: IndexDefinition
    ) throws -> [IndexRows] {
        let chunks = (documents.count + chunkSize - 1) / chunkSize
        guard chunks > 1 else { return [try map(documents, moment, definition)] }
        let results = Mutex([Result<IndexRows, any Error>?](repeating: nil, count: chunks))
        DispatchQueue.concurrentPerform(iterations: chunks) { chunk in
            let part = Array(documents[chunk * chunkSize..<min((chunk + 1) * chunkSize, documents.count)])
            let mapped = Result { try map(part, moment, definition) }
            results.withLock { $0[chunk] = mapped }
        }
        return try results.withLock { try $0.compactMap { try $0?.get() } }
    }

    /// The rows of each of `documents`; none for a document that is `nil`.
    ///
    /// - Throws: what the definition's map throws.
    static func rows(
        of documents: [Document?], _ moment: CollectionSnapshot, _ definition: IndexDefinition
    ) throws -> [[IndexRow]] {
        let runs = try runs(of: documents.compactMap(\.self), moment, definition)
        var rows = runs.lazy.flatMap { run in (0..<run.documentCount).lazy.map { run.rows(of: $0) } }
            .makeIterator()
        return documents.map { $0 == nil ? [] : rows.next() ?? [] }
    }

    private static func map(
        _ documents: [Document], _ moment: CollectionSnapshot, _ definition: IndexDefinition
    ) throws -> IndexRows {
        let rows = try definition.map(documents, moment)
        guard rows.documentCount == documents.count else {
            throw DatabaseError(
                .invalidDocument,
                "The map of \(definition.name) answered for \(rows.documentCount) of \(documents.count) documents."
            )
        }
        return rows
    }
}
