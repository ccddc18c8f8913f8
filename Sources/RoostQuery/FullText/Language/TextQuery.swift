import Roost

/// What is searched for in a full-text index.
indirect enum TextQuery: Hashable, Sendable {
    case phrase(TextPhrase)
    /// Phrases that stand near each other, in any order: with at most that many words between the end of the first and the
    /// beginning of the last.
    case near([TextPhrase], distance: Int)
    case all([TextQuery])
    case any([TextQuery])
    case not(TextQuery)

    /// How far apart words near each other may be where nothing else is said.
    static let usualDistance = 10
}

/// Words that follow each other, or one word.
struct TextPhrase: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Words in any of their forms.
        case words
        /// Words exactly as they are.
        case exact
        /// The last word is the beginning of one.
        case prefix
        /// Words that differ by so many letters at most.
        case fuzzy(Int)
    }

    /// As it was typed.
    var text: String
    var kind = Kind.words
    /// The columns in which it is looked for; `nil` for all.
    var columns: Set<ByteKey>?
    /// Whether those are the columns in which it is not.
    var excludesColumns = false
    /// Whether it is at the beginning of a column.
    var isAnchored = false
    /// What its score is multiplied by.
    var boost = 1.0
}

/// A query that can't be understood.
struct TextQueryError: Error, Equatable {
    let message: String
    /// Where, in bytes.
    let offset: Int
}
