import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage

/// MATCH() in a query: what is searched for, and whose documents.
final class TextSearch: Sendable {
    let number: Int
    /// The number of the source.
    let source: Int
    let collection: DocumentCollection
    let index: CompiledTextIndex
    let text: Evaluation
    private let written: Expression
    /// Whether its RANK() is asked for.
    let isRanked: Bool

    init(_ bound: BoundSearch, text: @escaping Evaluation, isRanked: Bool) {
        number = bound.number
        source = bound.source
        collection = bound.collection
        index = bound.index
        written = bound.written
        self.text = text
        self.isRanked = isRanked
    }

    static let noText = DatabaseError(
        .invalidQuery, "MATCH() looks for a text, and what it was given is none. Is its parameter set?")

    /// What the index is called, and what it answers.
    var description: String {
        let name = index.description.name
        return "\(name) (\(Expression.match(index: name, written).sqlText))"
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

    /// What a search finds, in the order of their numbers; or the best only, the best first.
    func found(by search: TextSearch, best limit: Int?) throws(DatabaseError) -> TextMatches {
        guard let limit, let text = search.text(frame).string else { return try matches(of: search) }
        let found = try read(search) { reader in
            let query = try search.index.query(text)
            return TextMatches(
                reader,
                try reader.best(query, min(limit, reader.documentCount), weights: search.index.weights))
        }
        // In the order of their scores, and looked up by their numbers.
        matches[TextMatchKey(search: search.number, text: ByteKey(text))] = TextMatches(
            found.reader, found.matches.sorted { $0.number < $1.number })
        return found
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
