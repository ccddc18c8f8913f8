import Roost
import RoostOrder

/// Rows in the required order.
struct SortNode: RowNode {
    let input: any RowNode
    let plan: QueryPlan
    /// How many are needed at most.
    let most: Int
    /// How many threads read parts of the rows.
    let threads: Int

    var inputs: [any PlanNode] { [input] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator {
        Sort(self, try input.makeRows(execution), execution)
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        let kept = most < .max ? ", keeping the first \(Explanation.grouped(most))" : ""
        writer.add("SORT", "by \(plan.orderText)\(kept)")
    }
}

/// Rows in the required order, up to a number of them. Rows that are equal in it stay in the order they came in.
///
/// Where few are wanted, only these are kept; what exceeds the memory is sorted in parts that are spilled.
final class Sort: RowOperator {
    private let rows: RowOperator
    private let node: SortNode
    private let wanted: Int
    private let threads: Int
    private let execution: Execution
    /// The rows in order, the last first, once they were read.
    private var sorted: [Entry]?
    private var external: ExternalSort?
    private var current: [UInt8] = []
    /// How many bytes of memory the rows in it take.
    private var taken = 0

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

    init(_ node: SortNode, _ rows: RowOperator, _ execution: Execution) {
        self.node = node
        self.rows = rows
        self.execution = execution
        wanted = node.most
        threads = node.threads
        super.init(node, rows.frame, [rows])
    }

    override func next() throws(DatabaseError) -> Bool {
        if sorted == nil { sorted = try readInParts() }
        if sorted == nil { sorted = try read() }
        guard
            let row = try external.map({ (sort) throws(DatabaseError) in try sort.next()?.value })
                ?? sorted?.popLast()?.row
        else { return false }
        current = row
        produced += 1
        return true
    }

    override func release() {
        (sorted, external, current) = (nil, nil, [])
        execution.budget.giveBack(taken)
        taken = 0
    }

    override func row() throws(DatabaseError) -> [UInt8] { current }

    /// The rows that are kept, each part of the documents read by one of several threads; `nil` when one thread has to do it.
    private func readInParts() throws(DatabaseError) -> [Entry]? {
        guard threads > 1 else { return nil }
        let node = node
        let parts = try execution.inParts(of: node.plan, threads: threads) {
            (part) throws(DatabaseError) -> PartRows<Entry>? in
            let rows = try node.input.makeRows(part)
            try rows.open()
            return PartRows(try Sort(node, rows, part).read(), rows)
        }
        guard let parts else { return nil }
        for part in parts { rows.add(part.counts) }
        var entries: [Entry] = []
        for entry in parts.lazy.flatMap({ $0.rows.reversed() }) {
            entries.append(Entry(key: entry.key, number: entries.count, row: entry.row))
        }
        return entries.sorted { $0.precedes($1) }.prefix(wanted).reversed()
    }

    /// The rows that are kept in memory, the last first; `nil` when these are of a part of the documents, and exceed its memory.
    private func read() throws(DatabaseError) -> [Entry]? {
        let encoder = OrderEncoder(node.plan.order)
        let budget = execution.budget
        var entries: [Entry] = []
        var number = 0
        guard wanted > 0 else { return [] }
        while try rows.next() {
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
                try spill(entries + [entry])
                entries = []
                encoder.limit = nil
                continue
            }
            taken += entry.size
            try budget.take(entry.size)
            if isFull, let last = entries.first {
                // The heap's first is the last of those to be kept.
                taken -= last.size
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

    /// Goes on with a sort that spills rows.
    private func spill(_ entries: [Entry]) throws(DatabaseError) {
        let sort = ExternalSort(execution)
        execution.budget.giveBack(taken)
        taken = 0
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

// MARK: - Order encoder

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
