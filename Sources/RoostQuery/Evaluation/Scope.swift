import Roost

/// The names that an expression may use, the innermost last.
struct Scope {
    /// What a name stands for.
    enum Meaning {
        case source(Int)
        case variable(Int)
        /// A column of the result, which ORDER BY may name.
        case column(Expression)
    }

    private var names: [(name: String, meaning: Meaning)] = []
    /// The sources that a property without an alias may belong to.
    private(set) var ownSources: [(alias: String, number: Int)] = []

    mutating func add(_ name: String, _ meaning: Meaning) { names.append((name, meaning)) }

    /// Begins a query within the present one, whose names remain known.
    mutating func beginSelect() { ownSources = [] }

    /// Adds a source of the innermost query; `takesProperties` unless it yields elements, which only their alias names.
    mutating func addSource(_ alias: String, _ number: Int, takesProperties: Bool) {
        names.append((alias, .source(number)))
        if takesProperties { ownSources.append((alias, number)) }
    }

    /// What the innermost thing of that name is. Names of sources are the same in letters of any case.
    func meaning(of name: String) -> Meaning? {
        if let exact = names.last(where: { ByteKey($0.name) == ByteKey(name) }) { return exact.meaning }
        let lower = ByteKey(name.lowercased())
        return names.last { pair in
            if case .source = pair.meaning { ByteKey(pair.name.lowercased()) == lower } else { false }
        }?.meaning
    }

    /// What all names stand for.
    var knownMeanings: [Meaning] { names.map(\.meaning) }

    /// All names, for suggestions.
    var knownNames: [String] { names.map(\.name) }
}
