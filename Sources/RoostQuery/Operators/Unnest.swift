import Fleece
import Roost

/// The elements of an array of the sources before.
final class Unnest: Operator {
    private let number: Int
    private let array: Evaluation
    private var elements: Value.Elements?

    init(_ node: SourceNode, _ array: @escaping Evaluation, _ execution: Execution) {
        number = node.source.number
        self.array = array
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) { elements = array(frame).arrayElements }

    override func next() throws(DatabaseError) -> Bool {
        guard let element = elements?.next() else { return false }
        frame.setRow(number, element, nil)
        produced += 1
        return true
    }

    override func close() { elements = nil }
}
