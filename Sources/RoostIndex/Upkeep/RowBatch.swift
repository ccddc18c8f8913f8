import Roost
import RoostBytes
import RoostStorage

/// Rows that wait to be sorted, of documents in the order of their IDs.
struct RowBatch: Sendable {
    private var bytes: [UInt8] = []
    private var rows: [IndexRows.Place] = []
    /// The ID of the last document, UTF-8; empty where there was none.
    private(set) var last: [UInt8] = []
    /// The rows in the order of their keys, once they were sorted.
    private var order: [Ranked] = []

    /// A row and what tells its key from most others, so that most comparisons touch no key.
    private struct Ranked: BitwiseCopyable {
        /// Eight bytes of the emitted key behind what all have in common, as a number that orders as they do.
        let rank: UInt64
        /// The row's number, and in the lowest bit whether the rank has all that is left of the emitted key.
        private let code: UInt64

        init(_ component: ByteView, behind shared: Int, index: Int) {
            let rest = component.dropFirst(shared)
            if rest.count >= 8 {
                rank = rest.load(UInt64.self, at: 0).byteSwapped
            } else {
                var rank: UInt64 = 0
                for place in 0..<rest.count { rank |= UInt64(rest[place]) << (56 - 8 * UInt64(place)) }
                self.rank = rank
            }
            code = UInt64(index) << 1 | (rest.count <= 8 ? 1 : 0)
        }

        var index: Int { Int(code >> 1) }

        /// Whether it stands before another one. No emitted key is the beginning of another one, and rows of the same one come in
        /// the order of their documents, in which they were added.
        @inline(__always)
        func precedes(_ other: Ranked, _ component: (Int) -> ByteView) -> Bool {
            if rank != other.rank { return rank < other.rank }
            if code & other.code & 1 == 0 {
                let order = component(index).compare(component(other.index))
                if order != 0 { return order < 0 }
            }
            return code < other.code
        }
    }

    /// About how many bytes they take.
    var size: Int {
        bytes.count
            + rows.count * (MemoryLayout<IndexRows.Place>.stride + MemoryLayout<Ranked>.stride)
    }

    /// Adds the rows of the documents that follow.
    mutating func add(_ part: MappedPart) {
        guard part.documentCount > 0 else { return }
        let distance = bytes.count
        bytes += part.bytes
        for var place in part.rows {
            place.start += distance
            rows.append(place)
        }
        last = part.last
    }

    mutating func sort() {
        let rows = rows
        order = bytes.withView { bytes in
            let component = { (row: Int) in rows[row].component(in: bytes) }
            guard !rows.isEmpty else { return [] }
            let first = component(0)
            let shared = rows.indices.reduce(first.count) { min($0, first.commonPrefix(component($1))) }
            var order = rows.indices.map { Ranked(component($0), behind: shared, index: $0) }
            order.sort { $0.precedes($1, component) }
            return order
        }
    }

    /// Appends the rows, which were sorted.
    func appendRows(to tree: Tree, in transaction: StoreTransaction) throws(StoreError) {
        try bytes.withView { (bytes) throws(StoreError) in
            for (place, ranked) in order.enumerated() {
                let coming = place + Self.lookahead
                if coming < order.count { rows[order[coming].index].key(in: bytes).prefetch() }
                let row = rows[ranked.index]
                try transaction.put(row.key(in: bytes), row.value(in: bytes), in: tree)
            }
        }
    }

    /// Sorted rows lie apart in memory: the processor begins to fetch one when so many others come before it.
    private static let lookahead = 8
}
