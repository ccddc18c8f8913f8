import Fleece
import Roost

/// The one row of a query that counts a whole collection, or what a search finds.
struct CountNode: RowNode {
    let counted: QueryPlan.Counted
    let count: Int

    var inputs: [any PlanNode] { [] }

    func makeRows(_ execution: Execution) throws(DatabaseError) -> RowOperator { Count(self, execution) }

    func explain(_ writer: inout PlanWriter, rows: Int?) {
        switch counted {
        case .documents(let collection): writer.add("COUNT", "\(collection.queryName), which is known")
        case .found(let search):
            writer.add(
                "COUNT", "\(search.collection.queryName) USING \(search.description), without documents",
                index: search.index.description.name)
        }
    }
}

final class Count: RowOperator {
    private let count: Int
    private var isDone = false

    init(_ node: CountNode, _ execution: Execution) {
        count = node.count
        super.init(node, execution.frame)
    }

    override func open() { isDone = false }

    override func next() throws(DatabaseError) -> Bool {
        guard !isDone else { return false }
        isDone = true
        produced += 1
        return true
    }

    override func row() throws(DatabaseError) -> [UInt8] {
        var writer = FleeceWriter(capacity: 16)
        writer.beginArray()
        writer.write(count)
        writer.endArray()
        // One number can be written.
        return (try? writer.finish()) ?? []
    }
}
