import Fleece
import Roost
import RoostIndex

/// Finds the texts of documents that an index is of.
final class TextMapper: Sendable {
    /// What the texts are of, as expressions of a document are compared.
    let columns: [BoundExpression]
    private let program: Program
    private let values: [Evaluation]
    /// What threads have left over.
    private let frames = SparePool<Frame>()

    init(_ columns: [Expression]) throws(QueryError) {
        let document = DocumentProgram(Schema(NoCollections()))
        let bound = try columns.map { (column) throws(QueryError) in try document.bind(column).value }
        self.columns = bound
        values = try bound.map { (column) throws(QueryError) in try document.compile(column) }
        program = document.program
    }

    /// The texts of each column. Those within arrays and objects are texts of their own.
    ///
    /// - Throws: `limitExceeded` where a column can't be computed, as a scan does.
    func texts(of document: Document) throws(DatabaseError) -> [[String]] {
        let frame = frames.take() ?? Frame(program)
        let mark = frame.arena.mark
        let texts = document.value.withNode { root in
            let metadata = BodyMetadata(document)
            frame.setRow(0, Value(root), RowMetadata(id: frame.arena.copy(document.id), body: metadata))
            return values.map { value in
                var texts: [String] = []
                Self.collect(value(frame), depth: 0, &texts)
                return texts
            }
        }
        try frame.check()
        frame.arena.release(to: mark)
        frames.giveBack(frame)
        return texts ?? values.map { _ in [] }
    }

    private static let deepest = 32

    private static func collect(_ value: Value, depth: Int, _ texts: inout [String]) {
        if let string = value.string {
            texts.append(string)
        } else if depth < deepest, let elements = value.elements {
            for element in elements { collect(element, depth: depth + 1, &texts) }
        }
    }
}
