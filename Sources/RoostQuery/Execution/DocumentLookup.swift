import Fleece
import Roost
import RoostBytes

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
