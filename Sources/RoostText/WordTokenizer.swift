import RoostBytes

/// Words by the rules of Unicode: word boundaries (UAX #29), full case folding, and one form for letters with marks.
///
/// Runs of Chinese, Japanese, Thai, Lao, Khmer and Burmese letters, which have no spaces between words, become pairs of
/// neighbouring characters; Korean is taken by word. Pictographs and flags count as words, and other signs don't. A pictograph is found
/// in any colour of skin. The end of `O'Brien's` does not belong to the word.
public struct WordTokenizer: Tokenizer {
    /// The language whose forms of a word are one; `nil` for none.
    public let language: TextLanguage?
    /// Whether accents, vowel points and strokes are left out: *resume* finds *résumé*.
    public let ignoresAccents: Bool
    /// Words that are not found, as they are folded.
    public let stopWords: Set<String>
    private let stopBytes: Set<[UInt8]>
    private let stemmer: (any Stemmer)?

    /// - Parameters:
    ///   - language: whose forms of a word are one.
    ///   - ignoresAccents: whether accents are left out.
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
