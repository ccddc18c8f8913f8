/// A query, and what is to be told of it instead of its rows.
struct ExplainedQuery: Equatable {
    enum Explains { case no, plan, analysis }

    /// The query alone. Spaces stand for EXPLAIN and ANALYZE, so that errors name places in what was typed.
    private(set) var text: String
    private(set) var explains = Explains.no

    init(_ text: String) {
        self.text = text
        guard blank("explain") else { return }
        explains = blank("analyze") ? .analysis : .plan
    }

    /// Puts spaces in the place of the keyword that the text begins with, if it is that one.
    private mutating func blank(_ keyword: String) -> Bool {
        let space = text.prefix { $0.isWhitespace }
        let word = text[space.endIndex...].prefix { $0.isLetter }
        guard word.lowercased() == keyword else { return false }
        text = space + String(repeating: " ", count: word.count) + text[word.endIndex...]
        return true
    }
}
