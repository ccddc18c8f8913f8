import RoostBytes
import RoostStorage

/// Rows that wait to be sorted, of documents in the order of their IDs.
struct RowBatch {
    private var rows: [IndexRow] = []
    private var documents: [(id: [UInt8], keys: [UInt8])] = []
    /// The places of rows in the order of their keys, once they were sorted.
    private var order: [Place] = []
    /// About how many bytes they take.
    private(set) var size = 0

    /// A row and what its key begins with, so that most comparisons touch no key.
    private struct Place: BitwiseCopyable {
        let prefix: UInt64
        let index: Int
    }

    var isEmpty: Bool { documents.isEmpty }
    /// The last document's ID.
    var last: [UInt8] { documents.last?.id ?? [] }

    mutating func add(_ rows: [IndexRow], of id: String) {
        self.rows += rows
        documents.append((Array(id.utf8), DocumentRows.encode(rows)))
        size += rows.reduce(64) { $0 + 2 * $1.key.count + $1.value.count + 128 }
    }

    mutating func sort() {
        let rows = rows
        order = rows.indices.map { Place(prefix: Self.prefix(rows[$0].key), index: $0) }
        order.sort { a, b in
            guard a.prefix == b.prefix else { return a.prefix < b.prefix }
            return rows[a.index].key.withView { a in rows[b.index].key.withView { a.compare($0) < 0 } }
        }
    }

    /// The first eight bytes of a key as a number that orders as they do.
    private static func prefix(_ key: [UInt8]) -> UInt64 {
        var prefix: UInt64 = 0
        for index in 0..<min(8, key.count) { prefix |= UInt64(key[index]) << (56 - 8 * UInt64(index)) }
        return prefix
    }

    /// Appends the rows, which were sorted.
    func appendRows(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
        for place in order {
            try transaction.put(Key(rows[place.index].key), rows[place.index].value, in: tree)
        }
    }

    /// Appends the keys of each document's rows.
    func appendDocuments(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
        for document in documents where !document.keys.isEmpty {
            try transaction.put(Key(document.id), document.keys, in: tree)
        }
    }
}
