import Roost
import RoostOrder

/// Writes what rows are ordered by as keys that compare as bytes.
final class OrderEncoder {
    private let columns: [(encoder: KeyEncoder, isDescending: Bool)]
    private(set) var key: [UInt8] = []

    init(_ order: [OrderPlan]) { columns = order.map { (KeyEncoder($0.collation), $0.isDescending) } }

    /// Appends the values of the present rows.
    func append(_ order: [OrderPlan], _ frame: Frame) {
        key.removeAll(keepingCapacity: true)
        for (column, plan) in zip(columns, order) {
            column.encoder.reset()
            column.encoder.append(plan.value(frame))
            if column.isDescending { column.encoder.complement(from: 0) }
            key += column.encoder.key
        }
    }
}

/// Rows in the order asked for; of those, the first so many. Rows that are equal in it stay in the order they came in.
final class SortedCursor: RowCursor {
    private let rows: RowCursor
    private let wanted: Int
    private let budget: MemoryBudget
    /// The rows in order, the last first, once they were read.
    private var sorted: [Entry]?

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

    init(_ rows: RowCursor, keeping wanted: Int, _ budget: MemoryBudget) {
        self.rows = rows
        self.wanted = wanted
        self.budget = budget
        super.init(rows.plan, rows.frame)
    }

    override func next() throws(DatabaseError) -> [UInt8]? {
        if sorted == nil { sorted = try read() }
        return sorted?.popLast()?.row
    }

    private func read() throws(DatabaseError) -> [Entry] {
        let encoder = OrderEncoder(plan.order)
        var entries: [Entry] = []
        var number = 0
        guard wanted > 0 else { return [] }
        while let row = try rows.next() {
            rows.appendOrder(to: encoder)
            let entry = Entry(key: encoder.key, number: number, row: row)
            number += 1
            if entries.count < wanted {
                try budget.take(entry.size)
                entries.append(entry)
                if entries.count == wanted { heapify(&entries) }
            } else if let last = entries.first, entry.precedes(last) {
                // The heap's first is the last of those to be kept.
                try budget.take(entry.size)
                budget.giveBack(last.size)
                entries[0] = entry
                sink(&entries, 0)
            }
        }
        return entries.sorted { $1.precedes($0) }
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
