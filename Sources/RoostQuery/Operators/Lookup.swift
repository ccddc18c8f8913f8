import Fleece
import Roost
import RoostBytes

/// Documents that are looked up by their IDs, in the order of these.
final class Lookup: Operator {
    private let lookup: DocumentLookup
    private let execution: Execution
    private let find: () -> [[UInt8]]
    /// The IDs left, the last first.
    private var ids: [[UInt8]] = []
    private var mark: Arena.Mark

    /// - Parameter ids: the IDs that are asked for by the present rows of the sources before.
    init(
        _ node: SourceNode, _ documents: QueryMoment.Documents, _ access: DocumentAccess,
        _ execution: Execution,
        ids: @escaping () -> [[UInt8]]
    ) {
        lookup = DocumentLookup(
            execution.frame, node.source.number, documents, access.metadata,
            includesDeleted: access.includesDeleted)
        self.execution = execution
        find = ids
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = frame.arena.mark
        ids = find().reversed()
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let id = ids.popLast() {
            try execution.counter.checkCancellation()
            execution.counter.documents += 1
            if try id.withView({ (view) throws(DatabaseError) in try lookup.find(view) }) {
                produced += 1
                return true
            }
        }
        return false
    }

    override func close() { ids = [] }
}

/// Makes documents that are looked up by their IDs the rows of a source. Belongs to one thread.
struct DocumentLookup {
    private let frame: Frame
    private let number: Int
    private let bodies: BodyLookup
    private let metadata: SourceUse.Metadata
    private let includesDeleted: Bool

    /// - Parameters:
    ///   - number: the source's.
    ///   - metadata: how much of META() is asked for.
    init(
        _ frame: Frame, _ number: Int, _ documents: QueryMoment.Documents, _ metadata: SourceUse.Metadata,
        includesDeleted: Bool = false
    ) {
        self.frame = frame
        self.number = number
        bodies = documents.bodies
        self.metadata = metadata
        self.includesDeleted = includesDeleted
    }

    /// Makes the document with that ID, in UTF-8, the present row; `false` when there is none. The row is in the frame's arena.
    func find(_ id: ByteView) throws(DatabaseError) -> Bool {
        let (frame, number, asked) = (frame, number, metadata)
        return try bodies.find(id, includesDeleted: includesDeleted, knowsMetadata: asked == .all) {
            known, body in
            frame.setRow(
                number, Value(FleeceNode(root: frame.arena.copy(body))),
                asked == .none ? nil : RowMetadata(id: frame.arena.copy(id), body: known))
        }
    }
}
