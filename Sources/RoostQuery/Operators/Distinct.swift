import Fleece
import Roost
import RoostBytes
import RoostOrder

/// Rows of equal columns are one.
struct DistinctNode: RowNode {
    let input: any RowNode
    let plan: QueryPlan

    var inputs: [any PlanNode] { [input] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator {
        Distinct(self, try input.makeRows(execution), execution)
    }

    func explain(_ writer: inout PlanWriter, rows: Int?) { writer.add("DISTINCT", "rows") }
}

/// Leaves rows away that came before. When those exceed the memory, the others are sorted on disk and come last.
final class Distinct: RowOperator {
    private let rows: RowOperator
    private let execution: Execution
    private var seen: Set<[UInt8]> = []
    /// One for each column, by its collation.
    private let encoders: [KeyEncoder]
    private let order: OrderEncoder
    private var rest: ExternalSort?
    private var areRowsRead = false
    /// The row of the rest that came last, and what it is ordered by.
    private var last: (key: [UInt8], order: [UInt8])?
    private var current: [UInt8] = []
    /// How many bytes of memory the rows seen take.
    private var taken = 0

    init(_ node: DistinctNode, _ rows: RowOperator, _ execution: Execution) {
        self.rows = rows
        self.execution = execution
        order = OrderEncoder(node.plan.order)
        encoders = node.plan.collations.map(KeyEncoder.init)
        super.init(node, rows.frame, [rows])
    }

    override func next() throws(DatabaseError) -> Bool {
        guard let row = try nextDistinct() else { return false }
        current = row
        produced += 1
        return true
    }

    override func release() {
        (seen, rest, last, current, areRowsRead) = ([], nil, nil, [], false)
        execution.budget.giveBack(taken)
        taken = 0
    }

    override func row() throws(DatabaseError) -> [UInt8] { current }

    private func nextDistinct() throws(DatabaseError) -> [UInt8]? {
        while !areRowsRead {
            guard let row = try rows.nextRow() else {
                areRowsRead = true
                break
            }
            let key = encoders.key(of: row)
            guard !seen.contains(key) else { continue }
            if rest == nil, execution.budget.fitsEasily(key.count + 32) {
                taken += key.count + 32
                try execution.budget.take(key.count + 32)
                seen.insert(key)
                return row
            }
            try spill(key, row)
        }
        return try nextOfRest()
    }

    private func spill(_ key: [UInt8], _ row: [UInt8]) throws(DatabaseError) {
        let sort = rest ?? ExternalSort(execution)
        rest = sort
        _ = rows.appendOrder(to: order)
        let buffer = ByteBuffer(capacity: row.count + order.key.count + 8)
        order.key.withView { buffer.append(prefixed: $0) }
        buffer.append(row)
        try sort.add(key, buffer.view.array)
    }

    private func nextOfRest() throws(DatabaseError) -> [UInt8]? {
        while let entry = try rest?.next() {
            guard entry.key != last?.key else { continue }
            do throws(MalformedBytes) {
                let (order, row) = try entry.value.withView { (view) throws(MalformedBytes) in
                    var reader = ByteReader(view)
                    let order = try reader.prefixed().array
                    return (order, view.dropFirst(reader.position).array)
                }
                last = (entry.key, order)
                return row
            } catch {
                throw DatabaseError(derived: error)
            }
        }
        return nil
    }

    override func appendOrder(to encoder: OrderEncoder) -> Bool {
        last.map { encoder.set($0.order) } ?? rows.appendOrder(to: encoder)
    }
}

extension [KeyEncoder] {
    /// The keys of a row's columns one after the other, of which no one is the beginning of another.
    func key(of row: [UInt8]) -> [UInt8] {
        var key: [UInt8] = []
        row.withView { bytes in
            let columns = FleeceNode(root: bytes)
            for (place, encoder) in enumerated() {
                encoder.reset()
                encoder.append(Value(columns[place]))
                key += encoder.view.array
            }
        }
        return key
    }
}
