import Roost
import RoostIndex
import RoostStorage
import RoostText

extension DocumentCollection {
    /// Makes a full-text index, by which documents are found by their words.
    ///
    /// ```swift
    /// try notes.createTextIndex("text", on: "title, body", language: .english)
    /// for hit in try notes.search("text", "owl NEAR gable") { print(hit.id, hit.score, hit.snippet) }
    /// ```
    ///
    /// Builds it beside everything else that goes on, and returns when it can be used. The same index twice does nothing;
    /// another one of the same name takes its place.
    ///
    /// - Parameters:
    ///   - name: unique in the collection, 1 to 200 bytes.
    ///   - columns: the expressions whose texts are searched, in SQL++: see ``TextIndex/columns``.
    ///   - language: whose forms of a word are one: *owls* finds *owl*. Words as they are can still be found.
    ///   - ignoresAccents: whether *resume* finds *résumé*.
    ///   - stopWords: words that are not found.
    ///   - weights: what a word counts for in each column, in their order; 1 where there is none.
    ///   - tokenizer: the name of the app's own tokenizer: see `Database.register(_:named:)`.
    /// - Throws: `invalidQuery` for expressions that are malformed, `invalidName`, `readOnly`; `cancelled` when the task was
    ///   cancelled while it was built, which goes on when it is next used.
    public func createTextIndex(
        _ name: String, on columns: String, language: TextLanguage? = nil, ignoresAccents: Bool = true,
        stopWords: [String] = [], weights: [Double] = [], tokenizer: String? = nil
    ) throws(DatabaseError) {
        try createTextIndex(
            TextIndex(
                name, on: columns, language: language, ignoresAccents: ignoresAccents, stopWords: stopWords,
                weights: weights, tokenizer: tokenizer))
    }

    /// Makes an index of all runs of three characters, by which `LIKE '%x%'`, `CONTAINS()`, `REGEXP_LIKE()` and Mango's `$regex`
    /// read only the documents that may have what they look for. They use it by themselves; `explain` tells so.
    ///
    /// - Parameters:
    ///   - name: unique in the collection among full-text indexes, 1 to 200 bytes.
    ///   - columns: the expressions whose texts it is of, in SQL++.
    /// - Throws: as `createTextIndex` does.
    public func createTrigramIndex(_ name: String, on columns: String) throws(DatabaseError) {
        try createTextIndex(TextIndex(name, on: columns, kind: .trigrams))
    }

    /// Makes a full-text index of a description.
    public func createTextIndex(_ index: TextIndex) throws(DatabaseError) {
        guard (1...200).contains(index.name.utf8.count), !index.name.utf8.contains(0) else {
            throw DatabaseError(.invalidName, "The name of an index has 1 to 200 bytes, none of them 0.")
        }
        let compiled: CompiledTextIndex
        do throws(QueryError) {
            compiled = try CompiledTextIndex(index, Tokenizers.of(database))
        } catch {
            throw DatabaseError(
                .invalidQuery, "The index \(index.name.debugDescription): \(error.message)",
                underlyingError: error
            )
        }
        if try IndexList<TextIndex>(of: try snapshot()).indexes[index.name] != index {
            try IndexList<TextIndex>.change(in: self) { $0[index.name] = index }
        }
        do {
            let indexes = try self.indexes
            let definition = compiled.definition
            indexes.define(definition)
            try indexes.update(self, building: .one(definition.name))
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    /// Drops a full-text index, and gives its space back. One that there is not is fine.
    public func dropTextIndex(_ name: String) throws(DatabaseError) {
        guard try IndexList<TextIndex>(of: try snapshot()).indexes[name] != nil else { return }
        try IndexList<TextIndex>.change(in: self) { _ = $0.removeValue(forKey: name) }
        do { try indexes.drop("text/\(name)") } catch { throw DatabaseError(derived: error) }
    }

    /// The collection's full-text indexes, by name.
    public func textIndexes() throws(DatabaseError) -> [TextIndex] {
        try IndexList<TextIndex>(of: try snapshot()).indexes.values
    }

    /// The documents that a search finds, the best ones first.
    ///
    /// Documents are ranked by BM25: words that few documents have count for more, and so do words in short documents.
    ///
    /// - Parameters:
    ///   - index: the name of a full-text index.
    ///   - query: words and what joins them: `owl NEAR gable`, `"as well as" OR wat*`, `title: owl NOT barn`.
    ///   - limit: how many documents at most.
    ///   - offset: how many of the best ones to pass over.
    ///   - isForgiving: whether any text will do, as people type it into a search box: what is none of the language is
    ///     searched for its words.
    /// - Throws: `invalidQuery` for a query that is malformed, and an index that there is not; `damaged`, `inputOutput`.
    public func search(
        _ index: String, _ query: String, limit: Int = 20, offset: Int = 0, isForgiving: Bool = false
    ) throws(DatabaseError) -> SearchResult {
        try withTextIndex(index) { compiled, reader in
            let query = try compiled.query(query, isForgiving: isForgiving)
            let end = max(limit, 0).addingReportingOverflow(max(offset, 0))
            let wanted = min(end.overflow ? .max : end.partialValue, reader.documentCount)
            let (best, total) = try reader.bestAndTotal(query, wanted, weights: compiled.weights)
            var hits: [SearchHit] = []
            for match in best.dropFirst(max(offset, 0)) {
                let id = try reader.id(match.number)
                guard let document = try reader.collection.document(id) else { throw TextDamage.error }
                hits.append(SearchHit(document, match.score, compiled, query))
            }
            return SearchResult(hits: hits, total: total)
        }
    }

    /// How many documents a search finds.
    public func searchCount(
        _ index: String, _ query: String, isForgiving: Bool = false
    ) throws(DatabaseError) -> Int {
        try withTextIndex(index) { compiled, reader in
            try reader.count(try compiled.query(query, isForgiving: isForgiving))
        }
    }

    /// Words of an index that begin with what was typed, those in the most documents first, with the number of these.
    ///
    /// Words are in the form that they are found by: small letters, without accents where these are ignored. Documents of before a
    /// change count until the index is next merged.
    public func completions(
        _ index: String, of beginning: String, limit: Int = 10
    ) throws(DatabaseError) -> [(word: String, count: Int)] {
        try withTextIndex(index) { compiled, reader in
            var list = WordList()
            compiled.tokenizer.words(of: beginning, into: &list)
            guard let word = list.strings.last else { return [] }
            let prefix = compiled.tokenizer.terms(of: word).exact
            return try reader.completions(Array(prefix.utf8), limit: max(limit, 0))
        }
    }

    private func withTextIndex<R>(
        _ name: String, _ body: (CompiledTextIndex, TextReader) throws -> R
    ) throws(DatabaseError) -> R {
        let compiled = try compiledTextIndex(name)
        do {
            return try indexes.readStored(compiled.definition, of: self) { kept in
                try body(compiled, try TextReader(kept, compiled))
            }
        } catch let error as TextQueryError {
            throw DatabaseError(.invalidQuery, error.text)
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    private func compiledTextIndex(_ name: String) throws(DatabaseError) -> CompiledTextIndex {
        let list = try CompiledIndexes.of(database).textIndexes(
            of: self, by: try metadata(TextIndex.metadataName) ?? [])
        do throws(QueryError) {
            return try CompiledTextIndex(list.searched(name), Tokenizers.of(database))
        } catch {
            throw DatabaseError(.invalidQuery, error.message, underlyingError: error)
        }
    }
}

extension IndexList<TextIndex> {
    /// The index that a search names; the only one with words for `nil`.
    func searched(_ name: String?) throws(QueryError) -> TextIndex {
        let known = indexes.values.filter { $0.kind == .words }.map(\.name)
        guard name != nil || known.count < 2 else {
            throw QueryError(
                "There are several full-text indexes here, and none is named: \(known.joined(separator: ", "))"
            )
        }
        let wanted = name ?? known.first
        guard let index = wanted.flatMap({ indexes[$0] }) else {
            let hint =
                known.isEmpty
                ? "create one with createTextIndex or roost index create --text"
                : "there is \(known.map(\.debugDescription).joined(separator: ", "))"
            throw QueryError(
                "There is no full-text index \(name.map { "\($0.debugDescription) " } ?? "")here: \(hint).")
        }
        guard index.kind == .words else {
            throw QueryError(
                "The index \(index.name.debugDescription) has trigrams, not words: LIKE, CONTAINS() and REGEXP_LIKE() use it "
                    + "by themselves.")
        }
        return index
    }
}

extension TextQueryError {
    /// What is said of a search that can't be understood.
    var text: String { "The search can't be understood, at byte \(offset): \(message)." }
}

extension CompiledTextIndex {
    func query(_ text: String, isForgiving: Bool = false) throws(TextQueryError) -> CompiledTextQuery {
        try CompiledTextQuery(text, self, isForgiving: isForgiving)
    }
}

/// What a search has found.
public struct SearchResult: Sendable, RandomAccessCollection {
    private let hits: [SearchHit]
    /// How many documents there are in all, without regard to the limit.
    public let total: Int

    init(hits: [SearchHit], total: Int) {
        self.hits = hits
        self.total = total
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// How many there are.
    public var endIndex: Int { hits.count }
    /// One of them, the best one first.
    public subscript(position: Int) -> SearchHit { hits[position] }
}

/// A document that a search has found.
public struct SearchHit: Sendable {
    /// The document, as of the moment of the search.
    public let document: Document
    /// How well it fits: BM25, the more the better. Scores of one search can be compared.
    public let score: Double
    private let index: CompiledTextIndex
    private let query: CompiledTextQuery

    init(_ document: Document, _ score: Double, _ index: CompiledTextIndex, _ query: CompiledTextQuery) {
        self.document = document
        self.score = score
        self.index = index
        self.query = query
    }

    /// The document's ID.
    public var id: String { document.id }

    /// The texts of the document in which something was found, with the places.
    public var highlights: [Highlight] { Highlighter(index, query).highlights(of: document) }

    /// The part of the document with most of what was found: about 24 words.
    public var snippet: Highlight { snippet(words: 24) }

    /// The part of the document with most of what was found.
    ///
    /// - Parameter words: about how many words it has.
    public func snippet(words: Int) -> Highlight {
        Highlighter(index, query).snippet(of: document, words: words)
    }
}

/// A text with places in it that a search has found.
public struct Highlight: Sendable, Hashable {
    /// The column of the index that the text belongs to.
    public let column: String
    /// The text, as it is in the document.
    public let text: String
    /// The places, one after the other.
    public let ranges: [Range<String.Index>]
    /// Whether there is more text before, and after.
    public let isCut: (before: Bool, after: Bool)

    /// The text with something around each place: `marked("<b>", "</b>")`. Nothing in the text is escaped.
    public func marked(_ opening: String, _ closing: String, ellipsis: String = "…") -> String {
        var result = isCut.before ? ellipsis : ""
        var end = text.startIndex
        for range in ranges {
            result += text[end..<range.lowerBound] + opening + text[range] + closing
            end = range.upperBound
        }
        return result + text[end...] + (isCut.after ? ellipsis : "")
    }

    /// Whether text, column and places are the same.
    public static func == (a: Self, b: Self) -> Bool {
        a.column == b.column && a.text == b.text && a.ranges == b.ranges && a.isCut == b.isCut
    }

    /// Hashes text, column and places.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(column)
        hasher.combine(text)
        hasher.combine(ranges)
    }
}
