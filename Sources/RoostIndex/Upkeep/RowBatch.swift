import RoostBytes
import RoostStorage

/// Rows that wait to be sorted, of documents in the order of their IDs.
struct RowBatch {
    private var rows: [IndexRow] = []
    private var documents: [(id: String, keys: [UInt8])] = []
    /// About how many bytes they take.
    private(set) var size = 0

    var isEmpty: Bool { documents.isEmpty }
    /// The last document's ID.
    var last: [UInt8] { documents.last.map { Array($0.id.utf8) } ?? [] }

    mutating func add(_ rows: [IndexRow], of id: String) {
        self.rows += rows
        documents.append((id, DocumentRows.encode(rows)))
        size += rows.reduce(64) { $0 + 2 * $1.key.count + $1.value.count + 128 }
    }

    mutating func sort() { rows.sort { $0.key.lexicographicallyPrecedes($1.key) } }

    /// Appends the rows, which were sorted.
    func appendRows(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
        for row in rows { try transaction.put(Key(row.key), row.value, in: tree) }
    }

    /// Appends the keys of each document's rows.
    func appendDocuments(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
        for document in documents where !document.keys.isEmpty {
            try transaction.put(Key(document.id), document.keys, in: tree)
        }
    }
}
