/// Finds the words of texts, and what they have in common.
///
/// ``WordTokenizer`` does so for most languages. Make your own for others, or for texts that have words of another kind.
/// All calls may come from any thread, also at once, and must answer the same for the same text for as long as
/// ``version`` stays the same.
public protocol Tokenizer: Sendable {
    /// Names the tokenizer and how it works. Indexes that were made under another one are made anew.
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
