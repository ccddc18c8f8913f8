import Roost
import RoostBytes

/// What an index holds of each document of a collection: rows that sort by their keys.
///
/// The rows of a document must follow from the document alone, and from it as ``signature`` says: rows are kept, in files,
/// for as long as the signature stays the same.
package struct IndexDefinition: Sendable {
    /// Makes the rows of each of some documents, in their order. Called from any thread, also while it runs in others. What it
    /// throws ends the upkeep or the reading that it was called for, and no rows are made of that.
    package typealias Map = @Sendable (_ documents: [IndexedDocument]) throws -> [IndexRows]

    /// Tells the index from others of its collection: its kind, a slash and its own name. At most 1,000 bytes.
    package let name: String
    /// All that the rows depend on besides the documents: source or version of the map, options, collation. An index whose
    /// rows were made under another one is made anew.
    package let signature: String
    /// What the inner nodes of the rows' tree keep, so that reducing any range takes O(log n).
    package let reduction: IndexReduction?
    package let map: Map
    /// What keeps the index, where it has something else than rows.
    package let keeper: (any IndexKeeper)?

    package init(
        name: String, signature: String, reduction: IndexReduction? = nil, mapAll: @escaping Map
    ) {
        self.name = name
        self.signature = signature
        self.reduction = reduction
        map = mapAll
        keeper = nil
    }

    /// An index that has something else than rows.
    package init(name: String, signature: String, keeper: any IndexKeeper) {
        self.name = name
        self.signature = signature
        self.keeper = keeper
        reduction = nil
        map = { documents in documents.map { _ in IndexRows() } }
    }

    /// An index whose rows are made of one document at a time.
    package init(
        name: String, signature: String, reduction: IndexReduction? = nil,
        map: @escaping @Sendable (_ document: IndexedDocument, _ rows: inout IndexRows) -> Void
    ) {
        self.init(name: name, signature: signature, reduction: reduction) { documents in
            documents.map { document in
                var rows = IndexRows()
                map(document, &rows)
                return rows
            }
        }
    }
}

/// A document as it is mapped.
package struct IndexedDocument: Sendable {
    /// The winning revision, which is no tombstone.
    package let document: Document
    /// The moment that it belongs to.
    package let collection: CollectionSnapshot

    package init(document: Document, collection: CollectionSnapshot) {
        self.document = document
        self.collection = collection
    }
}

/// Takes the rows of one document.
package struct IndexRows {
    private(set) var rows: [(component: [UInt8], payload: [UInt8])] = []

    package init() {}

    /// Whether there are none.
    package var isEmpty: Bool { rows.isEmpty }

    /// The longest key; of a longer one the row keeps the beginning and a hash.
    package static let longestKey = 1_500

    /// Adds a row. Rows of one key stand in the order of the documents' IDs, and those of one document as they were added.
    ///
    /// - Parameters:
    ///   - key: as a `KeyEncoder` writes it: complete, and no beginning of another key.
    ///   - payload: anything.
    package mutating func add(_ key: ByteView, payload: ByteView) {
        rows.append((RowKey.component(key), payload.array))
    }
}
