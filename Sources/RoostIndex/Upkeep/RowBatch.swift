import RoostBytes
import RoostStorage

/// Rows that wait to be sorted, of documents in the order of their IDs.
struct RowBatch {
    private var bytes: [UInt8] = []
    private var rows: [IndexRows.Place] = []
    /// Which of the rows are those of one document, for each that has any.
    private var documents: [Range<Int>] = []
    /// The ID of the last document, UTF-8; empty where there was none.
    private(set) var last: [UInt8] = []
    /// The rows in the order of their keys, once they were sorted.
    private var order: [Ranked] = []

    /// A row and what tells its key from most others, so that most comparisons touch no key.
    private struct Ranked: BitwiseCopyable {
        let rank: UInt64
        let index: Int
    }

    /// About how many bytes they take.
    var size: Int {
        bytes.count
            + rows.count * (MemoryLayout<IndexRows.Place>.stride + MemoryLayout<Ranked>.stride)
            + documents.count * MemoryLayout<Range<Int>>.stride
    }

    /// Whether no document was added, be it one without rows.
    var isEmpty: Bool { last.isEmpty }

    mutating func add(_ run: IndexRows) {
        let (distance, first) = (bytes.count, rows.count)
        bytes += run.bytes
        rows += run.places.lazy.map { $0.moved(by: distance) }
        for document in 0..<run.documentCount {
            let range = run.range(of: document)
            guard !range.isEmpty else { continue }
            documents.append(first + range.lowerBound..<first + range.upperBound)
        }
        if let id = run.ids.last { last = Array(id.utf8) }
    }

    mutating func sort() {
        let rows = rows
        order = bytes.withView { bytes in
            let keys = { (row: Int) in rows[row].key(in: bytes) }
            guard !rows.isEmpty else { return [] }
            let shared = rows.indices.reduce(rows[0].keyLength) { min($0, keys(0).commonPrefix(keys($1))) }
            var order = rows.indices.map { Ranked(rank: Self.rank(keys($0), behind: shared), index: $0) }
            order.sort { a, b in
                a.rank == b.rank ? keys(a.index).compare(keys(b.index)) < 0 : a.rank < b.rank
            }
            return order
        }
    }

    /// Eight bytes of a key behind what all have in common, as a number that orders as they do.
    private static func rank(_ key: ByteView, behind shared: Int) -> UInt64 {
        if key.count - shared >= 8 { return key.load(UInt64.self, at: shared).byteSwapped }
        var rank: UInt64 = 0
        for index in shared..<key.count { rank |= UInt64(key[index]) << (56 - 8 * UInt64(index - shared)) }
        return rank
    }

    /// Appends the rows, which were sorted.
    func appendRows(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
        try bytes.withView { (bytes) throws(StoreError) in
            for ranked in order {
                let row = rows[ranked.index]
                try transaction.put(row.key(in: bytes), row.value(in: bytes), in: tree)
            }
        }
    }

    /// Appends the keys of each document's rows.
    func appendDocuments(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
        let keys = ByteBuffer()
        try bytes.withView { (bytes) throws(StoreError) in
            for document in documents {
                // The key of a document's first row ends with its ID.
                let id = rows[document.lowerBound].rest(in: bytes)
                keys.reset(keeping: 1 << 16)
                for row in rows[document] { DocumentRows.append(row.component(in: bytes), to: keys) }
                try transaction.put(id, keys.view, in: tree)
            }
        }
    }
}
