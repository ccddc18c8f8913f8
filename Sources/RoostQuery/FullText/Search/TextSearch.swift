import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostStorage
import RoostText

/// MATCH() in a query: what is searched for, and whose documents.
final class TextSearch: Sendable {
    let number: Int
    /// The number of the source.
    let source: Int
    let collection: DocumentCollection
    let index: CompiledTextIndex
    let text: Evaluation
    private let written: Expression
    /// Whether its RANK() is requested.
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
    /// The document that was requested last.
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
            return try search.collection.indexes.readStored(
                search.index.definition, of: search.collection, at: try snapshot[search.collection]
            ) { kept in try body(try TextReader(kept, search.index)) }
        } catch let error as TextQueryError {
            throw DatabaseError(.invalidQuery, error.text)
        } catch {
            throw DatabaseError(derived: error)
        }
    }

    /// What a failure to read the index means. A damaged one is thrown away, so that it is rebuilt.
    func damage(_ error: any Error, _ search: TextSearch) -> DatabaseError {
        if let error = error as? StoreError, error.code == .damaged {
            try? search.collection.indexes.discard(becauseOf: error)
        }
        return DatabaseError(derived: error)
    }
}

// MARK: - Highlighter

/// Finds the places in a document that a query matches, by indexing that one document in memory: what is marked is what
/// was found.
struct Highlighter {
    private let index: CompiledTextIndex
    private let query: CompiledTextQuery

    init(_ index: CompiledTextIndex, _ query: CompiledTextQuery) {
        self.index = index
        self.query = query
    }

    /// A text of a document, with its words and those that were found.
    private struct Passage {
        let column: Int
        let text: String
        /// Where words stand, in bytes, by their positions in the column.
        let words: [(position: Int, source: Range<Int>)]
        /// For each word: the leaves that found it.
        var found: [Set<Int>]
    }

    /// The texts in which something was found.
    func highlights(of document: Document) -> [Highlight] {
        passages(of: document).filter { $0.found.contains { !$0.isEmpty } }.map { passage in
            highlight(passage, 0..<passage.words.count, isWhole: true)
        }
    }

    /// The window of words with the most different things that were found, and of these the most.
    func snippet(of document: Document, words: Int) -> Highlight {
        let passages = passages(of: document)
        var best: (passage: Passage, window: Range<Int>, value: (Int, Int))?
        for passage in passages {
            let size = min(max(words, 1), passage.words.count)
            var start = 0
            while true {
                let window = start..<start + size
                let found = passage.found[window]
                let value = (
                    found.reduce(into: Set<Int>()) { $0.formUnion($1) }.count, found.count { !$0.isEmpty }
                )
                if best.map({ $0.value < value }) ?? true { best = (passage, window, value) }
                // A window that begins with something found, or a little before, is enough to look at.
                guard
                    let next = passage.found.indices.dropFirst(start + 1).first(where: {
                        !passage.found[$0].isEmpty
                    }),
                    next + size <= passage.words.count || start + size < passage.words.count
                else { break }
                start = min(next, passage.words.count - size)
            }
        }
        guard let best else { return Highlight(column: "", text: "", ranges: [], isCut: (false, false)) }
        // Some words before the first one that was found make it easier to read.
        var window = best.window
        let lead = best.passage.found[window].firstIndex { !$0.isEmpty }.map { $0 - window.lowerBound } ?? 0
        let shift = min(window.lowerBound, max(0, window.count / 6 - lead))
        let last = best.passage.found[window].lastIndex { !$0.isEmpty } ?? window.lowerBound
        if window.upperBound - shift > last { window = window.lowerBound - shift..<window.upperBound - shift }
        return highlight(best.passage, window, isWhole: false)
    }

    private func highlight(_ passage: Passage, _ window: Range<Int>, isWhole: Bool) -> Highlight {
        let bytes = passage.text.utf8
        let isFirst = isWhole || window.lowerBound == 0
        let isLast = isWhole || window.upperBound == passage.words.count
        let start = isFirst ? 0 : passage.words[window.lowerBound].source.lowerBound
        let end = isLast ? bytes.count : passage.words[window.upperBound - 1].source.upperBound
        let whole = passage.text
        func place(_ offset: Int) -> String.Index {
            whole.utf8.index(whole.utf8.startIndex, offsetBy: offset)
        }
        let text = String(whole[place(start)..<place(end)])
        var ranges: [Range<Int>] = []
        for word in window where !passage.found[word].isEmpty {
            let source = passage.words[word].source
            // Words that were found side by side, as a phrase, are one place; pairs of characters overlap.
            if let last = ranges.last, source.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, source.upperBound)
            } else {
                ranges.append(source)
            }
        }
        return Highlight(
            column: index.columnNames[passage.column], text: text,
            ranges: ranges.map { range in
                let from = text.utf8.index(text.utf8.startIndex, offsetBy: range.lowerBound - start)
                return from..<text.utf8.index(from, offsetBy: range.count)
            }, isCut: (!isFirst, !isLast))
    }

    /// Where words stand in a text, between its characters and one after the other, whatever the tokenizer says.
    private static func places(
        of words: ArraySlice<WordList.Word>, in text: String
    ) -> [(position: Int, source: Range<Int>)] {
        let bytes = Array(text.utf8)
        func place(_ offset: Int) -> Int {
            var place = min(max(offset, 0), bytes.count)
            while place > 0, place < bytes.count, bytes[place] & 0xC0 == 0x80 { place -= 1 }
            return place
        }
        var last = 0..<0
        return words.map { word in
            let start = max(last.lowerBound, place(word.source.lowerBound))
            last = start..<max(start, last.upperBound, place(word.source.upperBound))
            return (Int(word.position), last)
        }
    }

    private func passages(of document: Document) -> [Passage] {
        // One whose texts can't be computed is in no index.
        guard let columns = try? index.mapper.texts(of: document) else { return [] }
        var builder = SegmentBuilder(index.tokenizer, index.coder)
        builder.add(columns)
        var passages: [Passage] = []
        for (column, texts) in columns.enumerated() {
            var list = WordList()
            for text in texts {
                let known = list.count
                index.tokenizer.words(of: text, into: &list)
                let words = Self.places(of: list.words[known...], in: text)
                passages.append(
                    Passage(column: column, text: text, words: words, found: words.map { _ in [] }))
                for _ in 0..<SegmentBuilder.gap { list.skip() }
            }
        }
        guard let segment = try? MemorySegment(builder, first: 0) else { return passages }
        let lists = TermLists(segment: segment, coder: index.coder)
        var places: [(leaf: Int, place: TextPlace)] = []
        try? collect(query.tree, lists, &places)
        for (leaf, place) in places {
            let last = place.position + query.leaves[leaf].length
            for passage in passages.indices where passages[passage].column == place.column {
                let words = passages[passage].words
                for word in words.partitioningIndex(where: { $0.position >= place.position }
                )..<words.partitioningIndex(where: { $0.position >= last }) {
                    passages[passage].found[word].insert(leaf)
                }
            }
        }
        return passages
    }

    /// Collects the places of what a query asks for, not of what it excludes.
    private func collect(
        _ tree: TextTree, _ lists: TermLists, _ places: inout [(leaf: Int, place: TextPlace)]
    ) throws {
        switch tree {
        case .leaf(let leaf):
            let matcher = try PhraseMatcher(query.leaves[leaf], lists, nil)
            try matcher.seek(0)
            if matcher.document == 0 { places += try matcher.places().map { (leaf, $0) } }
        case .near(let parts, let distance):
            let phrases = try parts.map { try PhraseMatcher(query.leaves[$0], lists, nil) }
            let matcher = NearMatcher(phrases, distance: distance)
            try matcher.seek(0)
            if matcher.document == 0 {
                for (leaf, found) in zip(parts, try matcher.places()) { places += found.map { (leaf, $0) } }
            }
        case .all(let parts), .any(let parts): for part in parts { try collect(part, lists, &places) }
        case .not, .nothing: break
        }
    }
}
