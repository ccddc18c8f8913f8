import Roost
import RoostBytes
import RoostStorage

/// Rows that wait to be sorted, of documents in the order of their IDs.
struct RowBatch: Sendable {
    private var bytes: [UInt8] = []
    private var rows: [IndexRows.Place] = []
    /// The first row of each document that has any; the others follow it.
    private var documents: [Int] = []
    /// The ID of the last document, UTF-8; empty where there was none.
    private(set) var last: [UInt8] = []
    /// How many documents were added, also those without rows.
    private(set) var documentCount = 0
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
            + documents.count * MemoryLayout<Int>.stride
    }

    /// Adds the rows of the documents of a page.
    mutating func add(_ run: IndexRows, of page: DocumentPage) {
        let first = rows.count
        add(run.bytes, run.places)
        for document in 0..<page.count {
            let range = run.range(of: document)
            if !range.isEmpty { documents.append(first + range.lowerBound) }
        }
        documentCount += page.count
        last = Array(page.id(page.count - 1))
    }

    /// Adds the rows of later documents.
    mutating func add(_ other: RowBatch) {
        guard other.documentCount > 0 else { return }
        let first = rows.count
        add(other.bytes, other.rows)
        for row in other.documents { documents.append(first + row) }
        documentCount += other.documentCount
        last = other.last
    }

    private mutating func add(_ bytes: [UInt8], _ places: [IndexRows.Place]) {
        let distance = self.bytes.count
        self.bytes += bytes
        for var place in places {
            place.start += distance
            rows.append(place)
        }
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
    func appendRows(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
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

    /// Appends the keys of each document's rows.
    func appendDocuments(to tree: Tree, in transaction: WriteTransaction) throws(StoreError) {
        let keys = ByteBuffer()
        try bytes.withView { (bytes) throws(StoreError) in
            for (number, first) in documents.enumerated() {
                let end = number + 1 < documents.count ? documents[number + 1] : rows.count
                // The key of a document's first row ends with its ID.
                let id = rows[first].rest(in: bytes)
                keys.reset(keeping: 1 << 16)
                for row in rows[first..<end] { DocumentRows.append(row.component(in: bytes), to: keys) }
                try transaction.put(id, keys.view, in: tree)
            }
        }
    }
}
