import Roost
import RoostOrder

/// Writes what rows are ordered by as keys that compare as bytes.
final class OrderEncoder {
    private let parts: [(value: Evaluation, encoder: KeyEncoder, isDescending: Bool)]
    private(set) var key: [UInt8] = []
    /// A key from which on nothing is wanted; `nil` while everything is.
    var limit: [UInt8]?

    init(_ order: [OrderPlan]) {
        parts = order.map { (unshared($0.value), KeyEncoder($0.collation), $0.isDescending) }
    }

    /// Takes a key that was made before.
    ///
    /// - Returns: Whether it comes before the limit.
    func set(_ key: [UInt8]) -> Bool {
        self.key = key
        return comparisonWithLimit < 0
    }

    /// Appends the values of the present rows, as many as it takes to see that the key does not come before the limit.
    ///
    /// - Returns: Whether it comes before the limit, and so is whole.
    func append(_ frame: Frame) -> Bool {
        key.removeAll(keepingCapacity: true)
        var precedes = limit == nil
        for index in parts.indices {
            let encoder = parts[index].encoder
            encoder.reset()
            encoder.append(parts[index].value(frame))
            if parts[index].isDescending { encoder.complement(from: 0) }
            unsafe key.append(contentsOf: encoder.view.buffer)
            if precedes { continue }
            let comparison = comparisonWithLimit
            if comparison > 0 { return false }
            precedes = comparison < 0
        }
        return precedes
    }

    /// How the key, or what there is of it, compares with as much of the limit. No key is the beginning of another.
    private var comparisonWithLimit: Int {
        guard let limit else { return -1 }
        return key.withView { key in
            limit.withView { limit in
                let common = key.commonPrefix(limit)
                guard common < min(key.count, limit.count) else { return 0 }
                return Int(key[common]) - Int(limit[common])
            }
        }
    }
}

/// Rows in the order asked for; of those, the first so many. Rows that are equal in it stay in the order they came in.
///
/// Where few are wanted, only these are kept; what exceeds the memory is sorted in parts that are put aside.
final class SortedCursor: RowCursor {
    private let rows: RowCursor
    private let wanted: Int
    private let threads: Int
    private let execution: Execution
    /// The rows in order, the last first, once they were read.
    private var sorted: [Entry]?
    private var external: ExternalSort?
    private var current: [UInt8] = []

    private struct Entry {
        let key: [UInt8]
        let number: Int
        let row: [UInt8]

        func precedes(_ other: Entry) -> Bool {
            let order = key.withView { key in other.key.withView { key.compare($0) } }
            return order != 0 ? order < 0 : number < other.number
        }

        var size: Int { key.count + row.count + 96 }
    }

    init(_ rows: RowCursor, keeping wanted: Int, threads: Int = 1, _ execution: Execution) {
        self.rows = rows
        self.wanted = wanted
        self.threads = threads
        self.execution = execution
        super.init(rows.plan, rows.frame)
    }

    override func advance() throws(DatabaseError) -> Bool {
        if sorted == nil { sorted = try readInParts() }
        if sorted == nil { sorted = try read() }
        guard
            let row = try external.map({ (sort) throws(DatabaseError) in try sort.next()?.value })
                ?? sorted?.popLast()?.row
        else { return false }
        current = row
        return true
    }

    override func row() throws(DatabaseError) -> [UInt8] { current }

    /// The rows that are kept, each part of the documents read by one of several threads; `nil` when one thread has to do it.
    private func readInParts() throws(DatabaseError) -> [Entry]? {
        guard threads > 1 else { return nil }
        let (plan, wanted) = (plan, wanted)
        let parts = try execution.inParts(of: plan, threads: threads) { (part) throws(DatabaseError) in
            let rows = PlainCursor(plan, part.frame, try part.rows(of: plan.sources))
            return try SortedCursor(rows, keeping: wanted, part).read()
        }
        guard let parts else { return nil }
        var entries: [Entry] = []
        for entry in parts.lazy.flatMap({ $0.reversed() }) {
            entries.append(Entry(key: entry.key, number: entries.count, row: entry.row))
        }
        return entries.sorted { $0.precedes($1) }.prefix(wanted).reversed()
    }

    /// The rows that are kept in memory, the last first; `nil` when these are of a part of the documents, and exceed its memory.
    private func read() throws(DatabaseError) -> [Entry]? {
        let encoder = OrderEncoder(plan.order)
        let budget = execution.budget
        var entries: [Entry] = []
        var number = 0
        guard wanted > 0 else { return [] }
        while try rows.advance() {
            // Of rows that are equal, the first come first.
            guard rows.appendOrder(to: encoder) else { continue }
            if let external {
                try external.add(encoder.key, try rows.row())
                continue
            }
            let isFull = entries.count == wanted
            let entry = Entry(key: encoder.key, number: number, row: try rows.row())
            number += 1
            guard budget.fits(entry.size) else {
                guard execution.part == nil else { return nil }
                try putAside(entries + [entry])
                entries = []
                encoder.limit = nil
                continue
            }
            try budget.take(entry.size)
            if isFull, let last = entries.first {
                // The heap's first is the last of those to be kept.
                budget.giveBack(last.size)
                entries[0] = entry
                sink(&entries, 0)
            } else {
                entries.append(entry)
                if entries.count == wanted { heapify(&entries) }
            }
            if entries.count == wanted { encoder.limit = entries[0].key }
        }
        return entries.sorted { $1.precedes($0) }
    }

    /// Goes on with a sort that puts rows aside.
    private func putAside(_ entries: [Entry]) throws(DatabaseError) {
        let sort = ExternalSort(execution)
        execution.budget.giveBack(entries.dropLast().reduce(0) { $0 + $1.size })
        for entry in entries.sorted(by: { $0.number < $1.number }) { try sort.add(entry.key, entry.row) }
        external = sort
    }

    private func heapify(_ entries: inout [Entry]) {
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(&entries, index) }
    }

    /// Moves an entry down until none below it comes after it.
    private func sink(_ entries: inout [Entry], _ start: Int) {
        var index = start
        while true {
            var last = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < entries.count && entries[last].precedes(entries[child]) { last = child }
            if last == index { return }
            entries.swapAt(index, last)
            index = last
        }
    }
}
