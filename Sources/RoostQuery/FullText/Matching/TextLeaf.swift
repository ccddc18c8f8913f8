import Roost
import RoostBytes
import RoostText

/// A phrase of a query as it is looked for: words side by side, or one.
struct TextLeaf: Sendable {
    /// Terms that stand for a word.
    enum Terms: Hashable, Sendable {
        /// All forms of a word.
        case root([UInt8])
        /// A word as it is; under its root, where that is the same, only what is no other form.
        case exact(root: [UInt8], exact: [UInt8])
        case prefix([UInt8])
        case fuzzy([Unicode.Scalar], distance: Int)
    }

    struct Slot: Sendable {
        let terms: Terms
        /// How many words after the first one.
        let offset: Int
    }

    let slots: [Slot]
    /// By column: whether it is looked at; `nil` for all.
    let columns: [Bool]?
    let isAnchored: Bool
    let boost: Double

    /// How many words it reaches over.
    var length: Int { (slots.last?.offset ?? 0) + 1 }
    /// Whether the number of places in a document is that of one list.
    var isPlain: Bool { slots.count == 1 && columns == nil && !isAnchored }
}

/// A query whose phrases are leaves, by number.
indirect enum TextTree: Sendable {
    case leaf(Int)
    case near([Int], distance: Int)
    case all([TextTree])
    case any([TextTree])
    case not(TextTree)
    /// Matches nothing.
    case nothing
}

/// Turns what was typed into terms.
struct TextQueryCompiler {
    private let tokenizer: any Tokenizer
    private let columns: [String]
    private(set) var leaves: [TextLeaf] = []

    private static let mostLeaves = 1_000

    init(_ tokenizer: any Tokenizer, columns: [String]) {
        self.tokenizer = tokenizer
        self.columns = columns
    }

    /// - Throws: for columns that there are not.
    mutating func compile(_ query: TextQuery) throws(TextQueryError) -> TextTree {
        // A phrase without any word, such as a sign, is as if it were not there.
        try tree(query) ?? .nothing
    }

    private mutating func tree(_ query: TextQuery) throws(TextQueryError) -> TextTree? {
        switch query {
        case .phrase(let phrase): return try leaf(phrase).map { .leaf($0) }
        case .near(let phrases, let distance):
            var numbers: [Int] = []
            for phrase in phrases { if let number = try leaf(phrase) { numbers.append(number) } }
            return numbers.count > 1 ? .near(numbers, distance: distance) : numbers.first.map { .leaf($0) }
        case .all(let parts):
            let trees = try self.trees(parts)
            return trees.count > 1 ? .all(trees) : trees.first
        case .any(let parts):
            let trees = try self.trees(parts)
            return trees.count > 1 ? .any(trees) : trees.first
        case .not(let part): return try tree(part).map { .not($0) }
        }
    }

    private mutating func trees(_ parts: [TextQuery]) throws(TextQueryError) -> [TextTree] {
        var trees: [TextTree] = []
        for part in parts { if let tree = try tree(part) { trees.append(tree) } }
        return trees
    }

    private mutating func leaf(_ phrase: TextPhrase) throws(TextQueryError) -> Int? {
        let slots = slots(phrase)
        guard !slots.isEmpty else { return nil }
        guard leaves.count < Self.mostLeaves else {
            throw TextQueryError(message: "A search of more than \(Self.mostLeaves) words", offset: 0)
        }
        leaves.append(
            TextLeaf(
                slots: slots, columns: try columnMask(phrase), isAnchored: phrase.isAnchored,
                boost: phrase.boost))
        return leaves.count - 1
    }

    private func columnMask(_ phrase: TextPhrase) throws(TextQueryError) -> [Bool]? {
        guard let names = phrase.columns else { return nil }
        var mask = [Bool](repeating: phrase.excludesColumns, count: columns.count)
        for name in names.sorted() {
            let found = places(of: name.text)
            guard !found.isEmpty else {
                throw TextQueryError(
                    message:
                        "The index has no column \(name.text.debugDescription); it has \(columns.joined(separator: ", "))",
                    offset: 0)
            }
            for place in found { mask[place] = !phrase.excludesColumns }
        }
        return mask
    }

    /// The columns of that name; in letters of any case, where none is written so.
    private func places(of name: String) -> [Int] {
        let exact = columns.indices.filter { ByteKey(columns[$0]) == ByteKey(name) }
        guard exact.isEmpty else { return exact }
        let lower = ByteKey(name.lowercased())
        return columns.indices.filter { ByteKey(columns[$0].lowercased()) == lower }
    }

    private func slots(_ phrase: TextPhrase) -> [TextLeaf.Slot] {
        var list = WordList()
        tokenizer.words(of: phrase.text, into: &list)
        var words = list.words
        // The last character of a run of pairs is in the pair before.
        words = words.enumerated().filter { index, word in
            word.kind != .last || index == 0 || words[index - 1].kind != .pair
                || words[index - 1].position + 1 != word.position
        }.map(\.element)
        guard let first = words.first else { return [] }
        return words.enumerated().map { index, word in
            let text = String(decoding: list.bytes(of: word), as: UTF8.self)
            let isLast = index == words.count - 1
            return TextLeaf.Slot(
                terms: terms(text, word.kind, phrase.kind, isLast: isLast),
                offset: Int(word.position - first.position))
        }
    }

    private func terms(
        _ word: String, _ kind: WordList.Word.Kind, _ wanted: TextPhrase.Kind, isLast: Bool
    ) -> TextLeaf.Terms {
        let terms = tokenizer.terms(of: word)
        let (root, exact) = (TextTerm.term(terms.root), TextTerm.term(terms.exact))
        // One character of a script without spaces begins the pairs that it is in.
        if kind == .last { return .prefix(exact) }
        return switch wanted {
        case .prefix where isLast && kind == .word: .prefix(exact)
        case .exact: .exact(root: root, exact: exact)
        case .fuzzy(let distance) where kind == .word:
            .fuzzy(Array(terms.exact.unicodeScalars), distance: distance)
        default: .root(root)
        }
    }
}

// MARK: - Term lists

/// Finds the documents of terms in one segment.
struct TermLists {
    let segment: any TextSegment
    let coder: PlaceCoder

    /// The documents that have one of the terms.
    func list(_ terms: TextLeaf.Terms) throws -> PostingList {
        switch terms {
        case .root(let root): return postings(root)
        case .exact(let root, let exact): return exactPostings(root, exact)
        case .prefix(let prefix): return union(try termsBeginning(prefix))
        case .fuzzy(let word, let distance):
            return union(try FuzzyTerms(word, distance).terms(in: segment, coder))
        }
    }

    /// As ``list(_:)``, where every document is wanted and none of the places.
    func documents(_ terms: TextLeaf.Terms) throws -> PostingList {
        if case .prefix(let prefix) = terms, let gathered = GatheredPostings(segment.documents) {
            try segment.forEachBlock(
                coder.hasRoots ? [TextTerm.exact] + prefix : prefix, gathered.add(first:_:))
            if coder.hasRoots {
                try segment.forEachTerm(prefix) { term in
                    if term.first != TextTerm.exact { try gathered.add(uninflected(term)) }
                    return .next
                }
            }
            return gathered
        }
        let list = try list(terms)
        return try (list as? UnionPostings)?.gathered(in: segment.documents) ?? list
    }

    private func postings(_ term: [UInt8]) -> TermPostings { TermPostings(segment.blocks(term), coder) }

    private func exactPostings(_ root: [UInt8], _ exact: [UInt8]) -> PostingList {
        guard coder.hasRoots else { return postings(root) }
        return root == exact ? uninflected(root) : postings([TextTerm.exact] + exact)
    }

    private func uninflected(_ term: [UInt8]) -> PostingList {
        coder.hasRoots ? FilteredPostings(postings(term)) { !$0.isInflected } : postings(term)
    }

    /// Exact forms that begin so.
    private func termsBeginning(_ prefix: [UInt8]) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        for start in coder.hasRoots ? [prefix, [TextTerm.exact] + prefix] : [prefix] {
            try segment.forEachTerm(start) { term in
                found.append(term)
                return .next
            }
        }
        return found
    }

    private func union(_ terms: [[UInt8]]) -> PostingList {
        let lists = terms.map { $0.first == TextTerm.exact ? postings($0) : uninflected($0) }
        return lists.count == 1 ? lists[0] : UnionPostings(lists)
    }
}

/// The terms within an edit distance (Levenshtein, with neighbouring letters exchanged counted as one) of a word.
struct FuzzyTerms {
    private let word: [Unicode.Scalar]
    private let distance: Int

    init(_ word: [Unicode.Scalar], _ distance: Int) {
        self.word = word
        self.distance = distance
    }

    /// The terms of exact forms in a segment. Reads the terms that begin with something near the beginning of the word.
    func terms(in segment: any TextSegment, _ coder: PlaceCoder) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        for start in coder.hasRoots ? [[], [TextTerm.exact]] : [[]] as [[UInt8]] {
            try segment.forEachTerm(start) { term in
                if start.isEmpty, term.first == TextTerm.exact { return .seek([TextTerm.exact + 1]) }
                let letters = Array(
                    String(decoding: term.dropFirst(start.count), as: UTF8.self).unicodeScalars)
                switch compare(letters) {
                case .near:
                    found.append(term)
                    return .next
                case .far: return .next
                case .hopeless(let count):
                    // Whatever begins so is too far away.
                    var view = String.UnicodeScalarView()
                    view.append(contentsOf: letters.prefix(count))
                    var next = start + Array(String(view).utf8)
                    while next.last == 0xFF { next.removeLast() }
                    if let last = next.popLast() { next.append(last + 1) }
                    return .seek(next)
                }
            }
        }
        return found
    }

    enum Comparison: Equatable {
        case near, far
        /// So many letters from the beginning already differ too much.
        case hopeless(Int)
    }

    /// Compares a term with the word. O(length of both).
    func compare(_ letters: [Unicode.Scalar]) -> Comparison {
        var before = [Int](repeating: 0, count: word.count + 1)
        var last = Array(0...word.count)
        for (index, letter) in letters.enumerated() {
            var row = [index + 1]
            row.reserveCapacity(word.count + 1)
            for column in 0..<word.count {
                var best = min(row[column], last[column + 1]) + 1
                best = min(best, last[column] + (word[column] == letter ? 0 : 1))
                if index > 0, column > 0, word[column] == letters[index - 1], word[column - 1] == letter {
                    best = min(best, before[column - 1] + 1)
                }
                row.append(best)
            }
            // An exchange looks back over two rows, so both have to be without hope.
            if (row + last).allSatisfy({ $0 > distance }) { return .hopeless(index + 1) }
            (before, last) = (last, row)
        }
        return last[word.count] <= distance ? .near : .far
    }
}

// MARK: - Scoring

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// BM25 of one phrase (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with the constants and the
/// least weight of a phrase that SQLite's FTS5 has, so that both put documents in the same order.
final class LeafScoring {
    /// How much more a phrase is worth the fewer documents have it, times its boost.
    private let weight: Double
    private let averageLength: Double
    /// How many documents have the phrase.
    let hits: Int
    /// By column; `nil` where all are 1.
    let weights: [Double]?
    private let heaviest: Double
    /// The documents with it by segment, where they were found when they were counted.
    let found: [FoundPhrase]?
    private let length: (Int) throws -> Int

    private static let k1 = 1.2
    private static let b = 0.75
    /// What a phrase counts for that more than half of the documents have.
    private static let least = 1e-6

    /// - Parameters:
    ///   - documents: how many there are.
    ///   - hits: how many have the phrase.
    ///   - found: the documents that have it, by segment, where that is known.
    ///   - length: the number of words of a document.
    init(
        documents: Int, hits: Int, averageLength: Double, boost: Double, weights: [Double]?,
        found: [FoundPhrase]?, length: @escaping (Int) throws -> Int
    ) {
        let rarity = log((Double(documents - hits) + 0.5) / (Double(hits) + 0.5))
        weight = (rarity > 0 ? rarity : Self.least) * boost
        self.averageLength = averageLength
        self.hits = hits
        self.weights = weights
        self.found = found
        heaviest = weights?.max() ?? 1
        self.length = length
    }

    /// What a number of places in a document counts for.
    func score(_ frequency: Double, _ document: Int) throws -> Double {
        score(frequency, length: try length(document))
    }

    /// The most that a document of a block can score, which has so many places and words at most and at least.
    func most(_ count: Int, _ shortest: Int) -> Double {
        most(frequency: Double(count) * heaviest, shortest: shortest)
    }

    /// The most that a document can score, of any length unless that is known.
    func most(frequency: Double, shortest: Int = 0) -> Double {
        // A small error of rounding must not omit what would have won.
        score(frequency, length: shortest) * (1 + 1e-12)
    }

    /// How many places a document of a block has at least that scores more than `threshold`, which is above 0; or fewer. No
    /// document of the block is shorter than `shortest`.
    func leastCount(above threshold: Double, shortest: Int) -> Int {
        let room = weight * (Self.k1 + 1) - threshold
        guard room > 0 else { return .max }
        // As for the most that a document can score, but the other way round.
        let least = threshold * norm(length: shortest) / (room * heaviest) * (1 - 1e-9)
        return least < 0x1p53 ? Int(least) : .max
    }

    private func norm(length: Int) -> Double {
        Self.k1 * (1 - Self.b + Self.b * (averageLength > 0 ? Double(length) / averageLength : 1))
    }

    private func score(_ frequency: Double, length: Int) -> Double {
        let norm = norm(length: length)
        return frequency > 0 ? weight * frequency * (Self.k1 + 1) / (frequency + norm) : 0
    }
}
