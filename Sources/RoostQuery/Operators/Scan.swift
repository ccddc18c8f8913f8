import Fleece
import Roost
import RoostBytes
import RoostOrder

/// The documents of a collection, or of a range of IDs, in the order of their IDs.
final class Scan: Operator {
    private let source: SourcePlan
    private let documents: QueryMoment.Documents
    private let access: DocumentAccess
    private let execution: Execution
    private var cursor: BodyCursor?
    private var untilCheck = 0
    /// The end of the arena when no row had been looked at.
    private var mark: Arena.Mark

    private static let checkInterval = 256

    init(
        _ node: SourceNode, _ documents: QueryMoment.Documents, _ access: DocumentAccess,
        _ execution: Execution
    ) {
        source = node.source
        self.documents = documents
        self.access = access
        self.execution = execution
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = frame.arena.mark
        untilCheck = 0
        cursor = nil
        guard let selection = access.selection(frame, of: execution.part) else { return }
        cursor = try documents.snapshot.bodyCursor(selection)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        guard let cursor else { return false }
        if untilCheck == 0 {
            try execution.counter.checkCancellation()
            try cursor.verify()
            untilCheck = Self.checkInterval
        }
        untilCheck -= 1
        guard try cursor.next() else {
            try cursor.verify()
            return false
        }
        execution.counter.documents += 1
        let root = Value(FleeceNode(root: try cursor.body()))
        switch access.metadata {
        case .none: frame.setRow(source.number, root, nil)
        case .id: frame.setRow(source.number, root, RowMetadata(id: cursor.id, body: nil))
        case .all:
            frame.setRow(source.number, root, RowMetadata(id: cursor.id, body: try cursor.metadata()))
        }
        produced += 1
        return true
    }

    override func close() { cursor = nil }
}

extension DocumentAccess {
    /// The documents that are read for the present rows of the sources before; `nil` for none.
    ///
    /// - Parameter part: the part of the collection that the execution reads.
    func selection(_ frame: Frame, of part: DocumentSelection?) -> DocumentSelection? {
        var selection = part ?? DocumentSelection()
        selection.isDescending = keys.isOrdered && keys.isReversed
        selection.includesDeleted = includesDeleted
        selection.prefix = keys.prefix
        if let lower = keys.lower {
            let value = lower.value(frame)
            if !(value.isNull && lower.countsNull) {
                // No ID is null, missing, or less than a number.
                guard let text = value.idBound(isLower: true) else { return nil }
                selection.from = text + (lower.isIncluded ? "" : "\0")
            }
        }
        if let upper = keys.upper {
            guard let text = upper.value(frame).idBound(isLower: false) else { return nil }
            selection.to = text
            selection.includesEnd = upper.isIncluded
        }
        return selection
    }

    /// The different IDs that are read for the present rows of the sources before, in order; `nil` where a range is.
    func sortedIDs(_ frame: Frame) -> [[UInt8]]? {
        guard let value = ids?(frame) else { return nil }
        let values = value.arrayElements.map(Array.init) ?? [value]
        return Set(values.compactMap { $0.text?.array }).sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension Value {
    /// The text that IDs are compared with; `nil` when none of them can be on the side asked for.
    fileprivate func idBound(isLower: Bool) -> String? {
        guard isValued else { return nil }
        if let string { return string }
        // Numbers and truth values come before all strings, collections and data after them.
        guard (rank < Value.string(.empty).rank) == isLower else { return nil }
        return isLower ? "" : "\u{10FFFF}\u{10FFFF}"
    }
}
