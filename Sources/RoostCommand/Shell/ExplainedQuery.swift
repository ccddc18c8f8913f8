/// A query, and what is to be told of it instead of its rows.
struct ExplainedQuery: Equatable {
    enum Explains {
        case no, plan, analysis
        /// What properties the rows have.
        case properties
        /// What values these have.
        case values
    }

    /// The query alone, or the name of the collection that is described. Spaces stand for EXPLAIN and so on, so that errors name places in
    /// what was typed.
    private(set) var text: String
    private(set) var explains = Explains.no

    /// The words that a statement may begin with that goes on until a semicolon.
    static let starts = ["select", "explain", "describe", "desc", "summarize"]

    init(_ text: String) {
        self.text = text
        if blank("explain") {
            explains = blank("analyze") ? .analysis : .plan
        } else if blank("describe") || blank("desc") {
            explains = .properties
        } else if blank("summarize") {
            explains = .values
        }
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
