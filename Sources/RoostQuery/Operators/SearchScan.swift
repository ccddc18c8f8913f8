import Roost
import RoostBytes

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
        _ node: SourceNode, _ documents: QueryMoment.Documents, _ search: TextSearch, best: Int?,
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
