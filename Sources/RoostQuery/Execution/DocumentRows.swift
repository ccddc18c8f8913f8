import Fleece
import Roost
import RoostBytes
import RoostOrder

/// The documents of a collection, or those with some IDs.
final class DocumentRows: RowSource {
    private let number: Int
    private let cursor: BodyCursor
    private let metadata: SourceUse.Metadata
    private let counter: WorkCounter
    private var untilCheck = 0
    /// The end of the arena when no row had been looked at.
    private let mark: Arena.Mark

    private static let checkInterval = 256

    init(
        _ frame: Frame, _ number: Int, _ snapshot: CollectionSnapshot, _ selection: DocumentSelection,
        _ metadata: SourceUse.Metadata, _ counter: WorkCounter
    ) throws(DatabaseError) {
        self.number = number
        self.metadata = metadata
        cursor = try snapshot.bodyCursor(selection)
        self.counter = counter
        mark = frame.arena.mark
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        if untilCheck == 0 {
            try counter.checkCancellation()
            try cursor.verify()
            untilCheck = Self.checkInterval
        }
        untilCheck -= 1
        guard try cursor.next() else {
            try cursor.verify()
            return false
        }
        counter.documents += 1
        let root = Value(FleeceNode(root: try cursor.body()))
        switch metadata {
        case .none: frame.setRow(number, root, nil)
        case .id: frame.setRow(number, root, RowMetadata(id: cursor.id, body: nil))
        case .all: frame.setRow(number, root, RowMetadata(id: cursor.id, body: try cursor.metadata()))
        }
        return true
    }
}

/// Documents that are looked up by their IDs, in the order of these.
final class LookedUpRows: RowSource {
    private let lookup: DocumentLookup
    private let counter: WorkCounter
    /// The IDs left, the last first.
    private var ids: [[UInt8]]
    private let mark: Arena.Mark

    init(
        _ frame: Frame, _ number: Int, _ documents: QueryMoment.Documents, _ access: DocumentAccess,
        _ ids: [[UInt8]],
        _ counter: WorkCounter
    ) {
        lookup = DocumentLookup(
            frame, number, documents, access.metadata, includesDeleted: access.includesDeleted)
        self.counter = counter
        self.ids = ids.reversed()
        mark = frame.arena.mark
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let id = ids.popLast() {
            try counter.checkCancellation()
            counter.documents += 1
            if try id.withView({ (view) throws(DatabaseError) in try lookup.find(view) }) { return true }
        }
        return false
    }
}
