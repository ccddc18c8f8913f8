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
