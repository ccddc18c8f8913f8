import Roost
import RoostBytes
import RoostStorage

/// Builds an index for the first time: maps all documents in the order of their IDs, sorts the rows, and appends them.
///
/// Rows that exceed the memory bound are spilled in sorted runs, trees of the same store, which are merged in the end. Each
/// run is committed with the ID of the last document in it, so a build that was cut off goes on from there. Documents that
/// change meanwhile are caught up with afterwards, from the sequence at which the build began.
struct IndexBuild {
    let indexes: IndexStore
    let definition: IndexDefinition
    let snapshot: CollectionSnapshot
    /// About how many bytes of rows to sort in memory.
    let memoryLimit: Int
    /// Called now and then with the number of documents that were mapped; stops the build by throwing.
    let step: (_ mapped: UInt64) throws -> Void

    /// How many documents are read and mapped by one thread at a time, and how many such parts are looked for at once.
    private static let partSize = 512
    private static let partCount = 8
    private static let mergeCommit = 50_000

    private var store: Store { indexes.store }

    func run(_ start: IndexRecord) throws -> IndexRecord {
        var record = start
        if record.phase == .mapping { try map(&record) }
        if record.phase == .merging { try merge(&record) }
        return record
    }

    private func tree(_ name: String) throws(StoreError) -> Tree {
        guard let tree = store.snapshot().tree(name) else {
            throw IndexStore.malformed("an index without its trees")
        }
        return tree
    }

    // MARK: Mapping

    /// Maps all documents and commits their rows: as a sorted run each time that the memory is full, at once where it never is.
    ///
    /// What the documents' rows are is written down while later documents are mapped.
    private func map(_ record: inout IndexRecord) throws {
        // No ID has a 00, so this is the least that comes after the last one.
        var start = record.last.isEmpty ? nil : String(decoding: record.last, as: UTF8.self) + "\u{0}"
        var mapped = try store.snapshot()[tree(IndexTrees.documents(record.number))].count
        let documentTree = try tree(IndexTrees.documents(record.number))
        repeat {
            let before = record
            record = try store.write { transaction in
                var batch = try rows(from: &start, &mapped) { part in
                    try part.appendDocuments(to: documentTree, in: transaction)
                }
                batch.sort()
                var done = before
                done.include(snapshot)
                let isAll = done.runs == 0 && start == nil
                let name = isAll ? IndexTrees.rows(done.number) : IndexTrees.run(done.number, done.runs)
                done.runs += isAll ? 0 : 1
                done.last = start == nil ? [] : batch.last
                if start == nil { done.phase = isAll ? .complete : .merging }
                try batch.appendRows(to: transaction.tree(name), in: transaction)
                try indexes.put(done, definition.name, in: transaction)
                return done
            }
        } while start != nil
    }

    /// The rows of the documents from `start` on, as many as the memory holds.
    ///
    /// - Parameters:
    ///   - start: the ID to begin with, and then the one to go on with; `nil` at the end.
    ///   - mapped: how many documents were mapped.
    ///   - take: called with the rows of some documents after the other.
    private func rows(
        from start: inout String?, _ mapped: inout UInt64, _ take: (MappedPart) throws -> Void
    ) throws -> RowBatch {
        var batch = RowBatch()
        let (snapshot, definition) = (snapshot, definition)
        let ahead = WorkAhead<DocumentSelection, Result<MappedPart, any Error>> { part in
            Result { try IndexMapping.rows(ofPart: part, snapshot, definition) }
        }
        var isAtEnd = false
        while true {
            while !isAtEnd, ahead.count < ahead.depth, batch.size <= memoryLimit {
                let (parts, next) = try snapshot.parts(of: Self.partSize, from: start, limit: Self.partCount)
                parts.forEach(ahead.add)
                start = next
                isAtEnd = next == nil
            }
            guard let part = try ahead.next()?.get() else { return batch }
            try take(part)
            batch.add(part)
            mapped += UInt64(part.documentCount)
            try step(mapped)
        }
    }

    // MARK: Merging

    private func merge(_ record: inout IndexRecord) throws {
        let rows = try tree(IndexTrees.rows(record.number))
        // A merge that was cut off begins again.
        try store.write { try $0.delete(.all, in: rows) }
        let snapshot = store.snapshot()
        var cursors = try (0..<record.runs).map { run in
            try snapshot[tree(IndexTrees.run(record.number, run))].cursor()
        }
        cursors = try cursors.filter { try $0.next() }
        while !cursors.isEmpty {
            try step(.max)
            try store.write { transaction in
                for _ in 0..<Self.mergeCommit {
                    guard let least = cursors.indices.min(by: { cursors[$0].key < cursors[$1].key }) else {
                        return
                    }
                    try transaction.put(cursors[least].key, try cursors[least].value(), in: rows)
                    if try !cursors[least].next() { cursors.remove(at: least) }
                }
            }
        }
        var next = record
        next.phase = .complete
        next.runs = 0
        let (runs, done) = (record.runs, next)
        try store.write { transaction in
            for run in 0..<runs { try transaction.drop(tree(IndexTrees.run(done.number, run))) }
            try indexes.put(done, definition.name, in: transaction)
        }
        record = next
    }
}

// MARK: - Row batch

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
