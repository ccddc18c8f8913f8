import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// MATCH() in a query: what is searched for, and whose documents.
final class TextSearch: @unchecked Sendable {
    // Only the compiler changes it, before anybody else sees it.

    let number: Int
    /// The number of the source.
    let source: Int
    let collection: DocumentCollection
    let index: CompiledTextIndex
    let text: Evaluation
    let textExpression: Expression
    /// Whether somebody asks for its RANK().
    var isRanked = false

    init(
        number: Int, source: Int, collection: DocumentCollection, index: CompiledTextIndex,
        text: @escaping Evaluation, textExpression: Expression
    ) {
        self.number = number
        self.source = source
        self.collection = collection
        self.index = index
        self.text = text
        self.textExpression = textExpression
    }

    static let noText = DatabaseError(
        .invalidQuery, "MATCH() looks for a text, and what it was given is none. Is its parameter set?")

    /// Whether that is the name of the index.
    func isOf(_ name: String) -> Bool { ByteKey(name) == ByteKey(index.description.name) }

    /// What the index is called, and what it answers.
    var description: String {
        let name = index.description.name
        return "\(name) (\(Expression.match(index: name, textExpression).sqlText))"
    }
}

extension Compiler {
    /// MATCH(index, text): whether the search finds the document.
    func match(_ name: String?, _ text: Expression) throws(QueryError) -> Evaluation {
        let (source, index) = try textIndex(name)
        guard let collection = sourceCollections[source] else { throw Self.noCollection }
        let search = TextSearch(
            number: textSearches.count, source: source, collection: collection, index: index,
            text: try compile(text), textExpression: text)
        textSearches.append(search)
        return ofFirstRow(source, .metadata(.id)) { frame in .bool(frame.rank(in: search) != nil) }
    }

    /// RANK(index): the score of the first MATCH() of that index; 0 for a document that it does not find.
    func rank(_ name: String?) throws(QueryError) -> Evaluation {
        let (source, index) = try textIndex(name)
        guard
            let search = textSearches.first(where: {
                $0.source == source && $0.isOf(index.description.name)
            })
        else {
            throw QueryError(
                "RANK(\(name ?? "")) is the rank of what MATCH(\(name.map { "\($0), " } ?? "")…) has found, and the query "
                    + "has none in WHERE"
            )
        }
        search.isRanked = true
        return ofFirstRow(source, .metadata(.id)) { frame in .double(frame.rank(in: search) ?? 0) }
    }

    /// The index of a name, with the alias of its source before it where there are several sources.
    private func textIndex(_ name: String?) throws(QueryError) -> (source: Int, index: CompiledTextIndex) {
        if let name, let dot = name.firstIndex(of: "."),
            case .source(let source)? = scope.meaning(of: String(name[..<dot])),
            let collection = sourceCollections[source]
        {
            return (source, try planner.textIndex(String(name[name.index(after: dot)...]), of: collection))
        }
        let source = try source(nil, .unknown)
        guard let collection = sourceCollections[source] else { throw Self.noCollection }
        return (source, try planner.textIndex(name, of: collection))
    }

    private static var noCollection: QueryError { QueryError("MATCH() searches documents of collections") }
}

extension SelectPlanning {
    /// Finds the documents of a source by a search that WHERE asks for in any case.
    func planSearch(_ condition: Expression, _ level: Int, _ touched: Set<Int>) {
        guard case .match(_, let text) = condition.uncollated, plan.sources[level].search == nil,
            let search = compiler.textSearches.last(where: {
                $0.source == plan.sources[level].number && $0.textExpression == text
            }),
            case .documents(_, let access) = plan.sources[level].origin, access.isScan,
            touched == [search.source]
        else { return }
        plan.sources[level].search = search
    }

    /// Lets the best documents of a search come first, so that few have to be read.
    func planRanking() {
        guard plan.sources.count == 1, plan.grouping == nil, !select.isDistinct, orderExpressions.count == 1,
            plan.order[0].isDescending, case .rank(let name) = orderExpressions[0],
            let search = plan.sources[0].search, conditions.count == 1,
            name.map({ search.isOf($0.split(separator: ".").last.map(String.init) ?? $0) }) ?? true,
            compiler.textSearches.first(where: { $0.source == search.source }) === search
        else { return }
        plan.isRanked = true
    }
}

extension Frame {
    /// The rank of the present document of a source; `nil` when the search does not find it.
    func rank(in search: TextSearch) -> Double? {
        guard failure == nil, let reader, let row = rowMetadata(search.source) else { return nil }
        do throws(DatabaseError) {
            return try reader.rank(row.id, in: search)
        } catch {
            fail(error)
            return nil
        }
    }
}

/// A search with the text that it had.
struct TextMatchKey: Hashable {
    let search: Int
    let text: ByteKey
}

/// What a search has found.
final class TextMatches {
    let reader: TextReader
    /// In the order of their numbers.
    let matches: [TextReader.Match]
    /// The document that was asked for last.
    private var last: (id: [UInt8], rank: Double?)?

    init(_ reader: TextReader, _ matches: [TextReader.Match]) {
        self.reader = reader
        self.matches = matches
    }

    var count: Int { matches.count }

    func rank(_ id: ByteView) throws -> Double? {
        if let last, last.id.withView({ $0.compare(id) == 0 }) { return last.rank }
        var rank: Double?
        if let number = try reader.number(String(decoding: id.array, as: UTF8.self)) {
            let place = matches.partitioningIndex { $0.number >= number }
            if place < matches.count, matches[place].number == number { rank = matches[place].score }
        }
        last = (id.array, rank)
        return rank
    }
}

extension Execution {
    func rank(_ id: ByteView, in search: TextSearch) throws(DatabaseError) -> Double? {
        if let visible { return try rank(id, in: search, visible) }
        let matches = try matches(of: search)
        do { return try matches.rank(id) } catch { throw damage(error, search) }
    }

    /// All that a search finds.
    func matches(of search: TextSearch) throws(DatabaseError) -> TextMatches {
        guard let text = search.text(frame).string else { throw TextSearch.noText }
        let key = TextMatchKey(search: search.number, text: ByteKey(text))
        if let known = matches[key] { return known }
        let found = try read(search) { reader in
            let query = try search.index.query(text)
            return TextMatches(
                reader, try reader.matches(query, weights: search.isRanked ? search.index.weights : nil))
        }
        try budget.take(found.count * MemoryLayout<TextReader.Match>.stride)
        matches[key] = found
        return found
    }

    /// The documents that a search finds; the best ones first, where only so many are needed.
    func searched(_ search: TextSearch, best limit: Int? = nil) throws(DatabaseError) -> RowSource {
        let documents = try documents(of: search.collection)
        guard let limit else {
            return SearchedRows(frame, search, documents, try matches(of: search), counter)
        }
        guard let text = search.text(frame).string else {
            return SearchedRows(frame, search, documents, try matches(of: search), counter)
        }
        let found = try read(search) { reader in
            let query = try search.index.query(text)
            return TextMatches(
                reader,
                try reader.best(query, min(limit, reader.documentCount), weights: search.index.weights))
        }
        // In the order of their scores, and looked up by their numbers.
        matches[TextMatchKey(search: search.number, text: ByteKey(text))] = TextMatches(
            found.reader, found.matches.sorted { $0.number < $1.number })
        return SearchedRows(frame, search, documents, found, counter)
    }

    private func read(
        _ search: TextSearch, _ body: (TextReader) throws -> TextMatches
    ) throws(DatabaseError) -> TextMatches {
        do {
            return try search.collection.indexes.readKept(
                search.index.definition, of: search.collection, at: try snapshot[search.collection]
            ) { kept in try body(try TextReader(kept, search.index)) }
        } catch let error as TextQueryError {
            throw DatabaseError(.invalidQuery, error.text)
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    /// What a failure to read the index means. A damaged one is thrown away, so that it is made anew.
    func damage(_ error: any Error, _ search: TextSearch) -> DatabaseError {
        if let error = error as? StoreError, error.code == .damaged {
            try? search.collection.indexes.discard(becauseOf: error)
        }
        return DatabaseError(derived: error)
    }
}

/// The documents that a search has found.
final class SearchedRows: RowSource {
    private let lookup: DocumentLookup
    private let matches: TextMatches
    private let counter: WorkCounter
    private var index = 0
    private let mark: Arena.Mark

    init(
        _ frame: Frame, _ search: TextSearch, _ documents: QueryMoment.Documents, _ matches: TextMatches,
        _ counter: WorkCounter
    ) {
        lookup = DocumentLookup(frame, search.source, documents, .all)
        self.matches = matches
        self.counter = counter
        mark = frame.arena.mark
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while index < matches.count {
            try counter.checkCancellation()
            counter.documents += 1
            let number = matches.matches[index].number
            index += 1
            let id: [UInt8]
            do { id = Array(try matches.reader.id(number).utf8) } catch {
                throw DatabaseError(derived: error)
            }
            if try id.withView({ (view) throws(DatabaseError) in try lookup.find(view) }) { return true }
        }
        return false
    }
}
