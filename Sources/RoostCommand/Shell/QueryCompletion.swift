import RoostQuery

/// What may stand next in a query: keywords, those that may follow first, functions, collections, parameters and the paths of
/// properties.
struct QueryCompletion {
    private let names: SessionNames
    private let parameters: [String]

    init(_ names: SessionNames, _ parameters: [String]) {
        self.names = names
        self.parameters = parameters
    }

    /// The keywords, and those that stand together as one.
    private static let keywords =
        QuerySyntax.keywords.filter { !["ORDER", "GROUP"].contains($0) } + ["ORDER BY", "GROUP BY"]

    func completions(of text: String) -> Completion {
        if !text.count(where: { $0 == "`" }).isMultiple(of: 2) { return quotedNames(text) }
        let word = String(text.suffix { $0.isLetter || $0.isNumber || "_.$".contains($0) })
        let before = text.dropLast(word.count)
        if word.hasPrefix("$") {
            return Completion(
                words: parameters.map { "$" + $0 }.filter { $0.begins(with: word) }, replaced: word.count)
        }
        let isLower = word.first?.isLowercase == true
        func cased(_ keywords: [String]) -> [String] { isLower ? keywords.map { $0.lowercased() } : keywords }
        let place = QueryPlace(String(before))
        let likely = place.takesCollection ? names.collections + ["_"] : cased(place.followers)
        let others =
            place.takesCollection
            ? []
            : cased(Self.keywords) + QuerySyntax.functions.map { $0 + "(" }
                + names.paths(in: place.collection)
        let words = likely + Set(others).subtracting(likely).sorted()
        return Completion(words: words.filter { $0.begins(with: word) }, replaced: word.count)
    }

    /// The names that go on what stands behind a back quote.
    private func quotedNames(_ text: String) -> Completion {
        let word = text.suffix { $0 != "`" }
        let place = QueryPlace(String(text.dropLast(word.count + 1)))
        let known = place.takesCollection ? names.collections : Array(names.properties(in: place.collection))
        return Completion(
            words: known.filter { $0.begins(with: word) }.sorted().map { $0 + "`" }, replaced: word.count)
    }
}

/// A place in a query, by what stands before it.
struct QueryPlace {
    /// The keywords that may follow, the most likely first; none where something else must come.
    private(set) var followers: [String] = []
    /// Whether the name of a collection must follow.
    let takesCollection: Bool
    /// The collection of the first FROM, as it is written; `nil` where none is named yet.
    let collection: String?

    private static let clauses: [String: [String]] = [
        "SELECT": ["FROM", "AS"],
        "FROM": ["WHERE", "ORDER BY", "GROUP BY", "LIMIT", "JOIN", "LEFT JOIN", "UNNEST", "AS"],
        "JOIN": ["ON", "AS"], "UNNEST": ["WHERE", "AS", "ORDER BY", "GROUP BY", "LIMIT"],
        "ON": ["WHERE", "AND", "OR", "JOIN", "ORDER BY", "GROUP BY", "LIMIT"],
        "WHERE": ["AND", "OR", "ORDER BY", "GROUP BY", "LIMIT", "LIKE", "IN", "BETWEEN", "IS"],
        "GROUP": ["HAVING", "ORDER BY", "LIMIT"], "HAVING": ["AND", "OR", "ORDER BY", "LIMIT"],
        "ORDER": ["DESC", "ASC", "LIMIT", "OFFSET"], "LIMIT": ["OFFSET"], "OFFSET": [],
    ]
    /// Keywords that are values, or end one.
    private static let values: Set<String> = [
        "NULL", "MISSING", "VALUED", "TRUE", "FALSE", "END", "DESC", "ASC",
    ]

    init(_ before: String) {
        let words = before.split { $0.isWhitespace || $0 == "(" || $0 == "," }.map(String.init)
        let keywords = words.map { $0.uppercased() }
        takesCollection = ["FROM", "JOIN"].contains(keywords.last) && before.last?.isWhitespace == true
        let from = keywords.firstIndex(of: "FROM").map { $0 + 1 }
        collection = from.flatMap { $0 < words.count ? words[$0].filter { $0 != "`" } : nil }
        guard let last = keywords.last,
            !"(,=<>!+-*/%|.".contains(before.trimmingEnd().last ?? "(") || last == "*",
            Self.values.contains(last) || !QuerySyntax.keywords.contains(last),
            let clause = keywords.last(where: { Self.clauses[$0] != nil })
        else { return }
        followers = Self.clauses[clause] ?? []
    }
}

extension String {
    fileprivate func trimmingEnd() -> Substring { dropLast(suffix(while: \.isWhitespace).count) }
}
