import Fleece
import Roost
import RoostBytes
import RoostIndex

/// The documents that rows of an index lead to; or what these rows have of them, where nothing else is asked for.
class IndexScan: Operator {
    private let number: Int
    private let lookup: DocumentLookup
    fileprivate let entries: IndexEntries
    fileprivate let execution: Execution
    private let covering: [IndexAccess.CoveredPath]
    private let reader: RowReader?
    private var mark: Arena.Mark

    init(
        _ node: SourceNode, _ documents: QueryMoment.Documents, _ access: DocumentAccess,
        _ entries: IndexEntries, _ execution: Execution
    ) {
        number = node.source.number
        lookup = DocumentLookup(execution.frame, number, documents, access.metadata)
        self.entries = entries
        self.execution = execution
        let index = entries.ranges.access
        covering = index.covering ?? []
        reader = index.covering.map { RowReader(index.index, $0.map(\.place), execution.frame.arena) }
        mark = execution.frame.arena.mark
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        mark = frame.arena.mark
        try entries.open()
    }

    /// The row of the index that leads to the next document.
    fileprivate func entry() throws(DatabaseError) -> IndexRowView? { try entries.next() }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let row = try entry() {
            guard try reader == nil ? look(up: row) : take(row) else { continue }
            produced += 1
            return true
        }
        return false
    }

    override func close() { entries.close() }

    /// Looks the document up.
    private func look(up row: IndexRowView) throws(DatabaseError) -> Bool {
        execution.counter.documents += 1
        return try lookup.find(row.documentID)
    }

    /// Takes from the row what is asked of the document.
    private func take(_ row: IndexRowView) throws(DatabaseError) -> Bool {
        guard let reader else { return false }
        frame.setRow(number, .missing, RowMetadata(id: frame.arena.copy(row.documentID), body: nil))
        try reader.read(row)
        for covered in covering { frame.setValue(reader.values[covered.place], ofPath: covered.path) }
        return true
    }
}

/// The documents that rows of two indexes lead to. The IDs of the first are kept in memory.
final class Intersect: IndexScan {
    private let others: IndexEntries
    /// The IDs of the other index that were not met yet.
    private var wanted: Set<[UInt8]>?
    private var taken = 0

    init(
        _ node: SourceNode, _ documents: QueryMoment.Documents, _ access: DocumentAccess,
        _ entries: IndexEntries, others: IndexEntries, _ execution: Execution
    ) {
        self.others = others
        super.init(node, documents, access, entries, execution)
    }

    override func open() throws(DatabaseError) {
        release()
        try others.open()
        try super.open()
    }

    override fileprivate func entry() throws(DatabaseError) -> IndexRowView? {
        if wanted == nil { wanted = try read() }
        while wanted?.isEmpty == false, let row = try entries.next() {
            if wanted?.remove(row.documentID.array) != nil { return row }
        }
        return nil
    }

    override func close() {
        release()
        others.close()
        super.close()
    }

    private func read() throws(DatabaseError) -> Set<[UInt8]> {
        var ids: Set<[UInt8]> = []
        while let row = try others.next() {
            let id = row.documentID.array
            taken += id.count + 32
            try execution.budget.take(id.count + 32)
            ids.insert(id)
        }
        return ids
    }

    override func release() {
        wanted = nil
        execution.budget.giveBack(taken)
        taken = 0
    }
}

/// The documents of which at least one of several conditions holds, each once: with the first condition that does.
final class Union: Operator {
    private let branches: [(rows: Operator, condition: Evaluation)]
    private var current = 0

    init(_ node: SourceNode, _ branches: [(rows: Operator, condition: Evaluation)], _ execution: Execution) {
        self.branches = branches
        super.init(node, execution.frame)
    }

    override func open() throws(DatabaseError) {
        current = 0
        for branch in branches { try branch.rows.open() }
    }

    override func next() throws(DatabaseError) -> Bool {
        while current < branches.count {
            while try branches[current].rows.next() {
                let first = branches[...current].firstIndex { Logic.holds($0.condition(frame)) }
                try frame.check()
                guard first == current else { continue }
                produced += 1
                return true
            }
            current += 1
        }
        return false
    }

    override func close() { for branch in branches { branch.rows.close() } }
}
