import RoostBytes

/// Finds the words of texts, and what they have in common.
///
/// ``WordTokenizer`` does so for most languages. Make your own for others, or for texts that have words of another kind.
/// All calls may come from any thread, also at once, and must answer the same for the same text for as long as
/// ``version`` stays the same.
public protocol Tokenizer: Sendable {
    /// Names the tokenizer and how it works. Indexes that were made under another one are rebuilt.
    var version: String { get }

    /// Adds the words of a text, in their order.
    func words(of text: String, into words: inout WordList)

    /// What a word of a list is found by.
    func terms(of word: String) -> WordTerms
}

extension Tokenizer {
    /// The word itself.
    public func terms(of word: String) -> WordTerms { WordTerms(root: word, exact: word) }
}

/// What a word is found by.
public struct WordTerms: Sendable, Hashable {
    /// What all forms of the word have in common: its stem.
    public let root: String
    /// The word as it stands, as far as case and accents matter.
    public let exact: String

    /// A word's root and exact form.
    public init(root: String, exact: String) {
        self.root = root
        self.exact = exact
    }
}

// MARK: - Word tokenizer

/// Words by the rules of Unicode: word boundaries (UAX #29), full case folding, and one form for letters with marks.
///
/// Runs of Chinese, Japanese, Thai, Lao, Khmer and Burmese letters, which have no spaces between words, become pairs of
/// neighbouring characters; Korean is taken by word. Pictographs and flags count as words, and other signs don't. A pictograph is found
/// in any colour of skin. The end of `O'Brien's` does not belong to the word.
public struct WordTokenizer: Tokenizer {
    /// The language whose forms of a word are one; `nil` for none.
    public let language: TextLanguage?
    /// Whether accents, vowel points and strokes are omitted: *resume* finds *résumé*.
    public let ignoresAccents: Bool
    /// Words that are not found, as they are folded.
    public let stopWords: Set<String>
    private let stopBytes: Set<[UInt8]>
    private let stemmer: (any Stemmer)?

    /// - Parameters:
    ///   - language: whose forms of a word are one.
    ///   - ignoresAccents: whether accents are omitted.
    ///   - stopWords: words that are not found, in any case; every word is where there are none.
    public init(language: TextLanguage? = nil, ignoresAccents: Bool = true, stopWords: [String] = []) {
        self.language = language
        self.ignoresAccents = ignoresAccents
        stemmer = language?.stemmer
        let folding = WordFolding(language: language)
        let folded = stopWords.map { word in
            var bytes: [UInt8] = []
            Array(word.utf8).withView { folding.append($0, to: &bytes) }
            return bytes
        }
        stopBytes = Set(folded)
        self.stopWords = Set(folded.map { String(decoding: $0, as: UTF8.self) })
    }

    /// Names language, accents, stop words and the version of the tables and rules.
    public var version: String {
        let parts = [
            "words \(WordData.version).\(Self.rules)", language?.rawValue ?? "-", ignoresAccents ? "a" : "-",
        ]
        return (parts + stopWords.sorted()).joined(separator: " ")
    }

    /// Counted up whenever words or stems change.
    private static let rules = 4

    /// Adds the words of a text. About 100 MB a second of ASCII.
    public func words(of text: String, into words: inout WordList) {
        var text = text
        text.withUTF8 { buffer in
            self.words(of: unsafe ByteView(UnsafeRawBufferPointer(buffer)), into: &words)
        }
    }

    /// The stem and the word, both without accents if these are ignored.
    public func terms(of word: String) -> WordTerms {
        guard ignoresAccents else { return WordTerms(root: stemmer?.stem(word) ?? word, exact: word) }
        let exact = Self.withoutAccents(word)
        guard let language, let stemmer else { return WordTerms(root: exact, exact: exact) }
        // A language with accents has endings that are told by them.
        let root = language.hasAccents ? Self.withoutAccents(stemmer.stem(word)) : stemmer.stem(exact)
        return WordTerms(root: root, exact: exact)
    }

    private static func withoutAccents(_ word: String) -> String {
        if word.utf8.allSatisfy({ $0 < 0x80 }) { return word }
        var scalars = word.unicodeScalars.map(\.value)
        CharacterTable.shared.removeAccents(&scalars)
        var bytes: [UInt8] = []
        for scalar in scalars { appendUTF8(scalar, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    package func words(of text: ByteView, into words: inout WordList) {
        words.bytes.reserveCapacity(words.bytes.count + text.count)
        var walk = WordWalk(text, WordFolding(language: language), stopBytes)
        walk.run(&words)
    }
}

// MARK: - Gram tokenizer

/// Takes texts apart into all runs of three characters, and the last two, by which parts of texts are found.
///
/// Each character is compared by itself: without its marks, and without regard to case and width. So the characters of a part of
/// a text are part of the characters of the text, however the part is compared with it.
package struct TrigramTokenizer: Tokenizer {
    /// How many characters stand together.
    package static let length = 3

    package init() {}

    package var version: String { "grams \(WordData.version).1" }

    package func words(of text: String, into words: inout WordList) {
        let scalars = Self.characters(of: text.unicodeScalars)
        for start in 0..<max(scalars.count - Self.length + 1, 0) {
            append(scalars[start..<start + Self.length], to: &words)
        }
        if scalars.count >= Self.length - 1 { append(scalars.suffix(Self.length - 1), to: &words) }
    }

    private func append(_ scalars: ArraySlice<UInt32>, to words: inout WordList) {
        let place = words.bytes.count
        for scalar in scalars { appendUTF8(scalar, to: &words.bytes) }
        words.finish(place, 0..<0)
    }

    /// The characters as they are compared.
    package static func characters(of text: some Sequence<Unicode.Scalar>) -> [UInt32] {
        var result: [UInt32] = []
        result.reserveCapacity(text.underestimatedCount)
        for scalar in text { append(scalar.value, to: &result) }
        return result
    }

    private static func append(_ scalar: UInt32, to result: inout [UInt32]) {
        switch scalar {
        case 0..<0x20, 0x7F: result.append(0x20)
        case UInt32(UInt8(ascii: "A"))...UInt32(UInt8(ascii: "Z")): result.append(scalar | 0x20)
        case ..<0x80: result.append(scalar)
        default:
            let table = CharacterTable.shared
            var parts = [scalar]
            table.decompose(&parts)
            for part in parts where !table.isMark(part) {
                guard var folded = table.folding(part) else {
                    result.append(part)
                    continue
                }
                table.decompose(&folded)
                for scalar in folded where !table.isMark(scalar) { result.append(scalar) }
            }
        }
    }
}

extension CharacterTable {
    /// Whether the character belongs to the one before, or is not seen.
    fileprivate func isMark(_ scalar: UInt32) -> Bool {
        combiningClass(scalar) != 0 || characterClass(scalar).wordBreak.isIgnored
    }
}
