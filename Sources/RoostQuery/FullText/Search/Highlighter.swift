import Roost
import RoostBytes
import RoostText

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
