import Fleece
import Roost
import RoostBytes
import RoostOrder

/// The documents of a collection, or of a range of IDs, in the order of their IDs.
final class Scan: Operator {
    private let source: SourcePlan
    private let documents: SnapshotReaders.Documents
    private let access: DocumentAccess
    private let execution: Execution
    private var cursor: BodyCursor?
    private var untilCheck = 0
    /// The end of the arena when no row had been looked at.
    private var mark: Arena.Mark

    private static let checkInterval = 256

    init(
        _ node: SourceNode, _ documents: SnapshotReaders.Documents, _ access: DocumentAccess,
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

// MARK: - Visible scan

/// The visible documents of a source, where not all are.
final class VisibleScan: Operator {
    private let visible: any VisibleDocuments
    private let collection: DocumentCollection
    private let access: DocumentAccess
    private let number: Int
    private let counter: WorkCounter
    private var read: () throws -> Document? = { nil }
    private var mark: Arena.Mark

    init(
        _ node: SourceNode, _ visible: any VisibleDocuments, _ collection: DocumentCollection,
        _ access: DocumentAccess, _ execution: Execution
    ) {
        self.visible = visible
        self.collection = collection
        self.access = access
        number = node.source.number
        counter = execution.counter
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = frame.arena.mark
        read = { nil }
        guard collection == visible.collection else { return }
        if let ids = access.sortedIDs(frame) {
            var rest = ids[...]
            read = { [visible] in
                while let id = rest.popFirst() {
                    if let document = try visible.document(String(decoding: id, as: UTF8.self)) {
                        return document
                    }
                }
                return nil
            }
        } else if let selection = access.selection(frame, of: nil) {
            read = try translated { try visible.documents(in: selection) }
        }
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        try counter.checkCancellation()
        guard let document = try translated(read) else { return false }
        counter.documents += 1
        let body = document.fleece.bytes.withView { frame.arena.copy($0) }
        frame.setRow(
            number, Value(FleeceNode(root: body)),
            RowMetadata(
                id: frame.arena.copy(Array(document.id.utf8)), body: BodyMetadata(document)))
        produced += 1
        return true
    }

    override func close() { read = { nil } }
}

// MARK: - Search scan

/// The documents that a full-text index finds; the best ones first, where only a number of them is needed.
final class SearchScan: Operator {
    private let search: TextSearch
    private let best: Int?
    private let lookup: DocumentLookup
    private let execution: Execution
    private var matches: TextMatches?
    private var index = 0
    private var mark: Arena.Mark

    init(
        _ node: SourceNode, _ documents: SnapshotReaders.Documents, _ search: TextSearch, best: Int?,
        _ execution: Execution
    ) {
        self.search = search
        self.best = best
        self.execution = execution
        lookup = DocumentLookup(execution.frame, search.source, documents, .all)
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = frame.arena.mark
        index = 0
        matches = try execution.found(by: search, best: best)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let matches, index < matches.count {
            try execution.counter.checkCancellation()
            execution.counter.documents += 1
            let number = matches.matches[index].number
            index += 1
            let id: [UInt8]
            do { id = Array(try matches.reader.id(number).utf8) } catch {
                throw DatabaseError(derived: error)
            }
            if try id.withView({ (view) throws(DatabaseError) in try lookup.find(view) }) {
                produced += 1
                return true
            }
        }
        return false
    }

    override func close() { matches = nil }
}

// MARK: - Lookup

/// Documents that are looked up by their IDs, in the order of these.
final class Lookup: Operator {
    private let lookup: DocumentLookup
    private let execution: Execution
    private let find: () -> [[UInt8]]
    /// The IDs left, the last first.
    private var ids: [[UInt8]] = []
    private var mark: Arena.Mark

    /// - Parameter ids: the IDs that are requested by the present rows of the sources before.
    init(
        _ node: SourceNode, _ documents: SnapshotReaders.Documents, _ access: DocumentAccess,
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
    ///   - metadata: how much of META() is requested.
    init(
        _ frame: Frame, _ number: Int, _ documents: SnapshotReaders.Documents, _ metadata: SourceUse.Metadata,
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
