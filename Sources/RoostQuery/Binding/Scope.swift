import Roost
import RoostOrder

/// The names that an expression may use: for each query around it, the innermost last, its sources and the columns of its result; and
/// the variables of ANY and EVERY.
struct Scope {
    /// A source of rows that has a name.
    struct Source {
        let alias: String
        let number: Int
        let kind: Kind
        let collection: DocumentCollection?

        enum Kind { case collection, query, elements }
    }

    /// What a name stands for, with the depth of the query that it belongs to.
    enum Meaning {
        /// - Parameter steps: how many steps of the path name the source.
        case source(Source, depth: Int, steps: Int)
        /// 0 is the innermost variable.
        case variable(Int, depth: Int)
    }

    /// One of the queries around an expression.
    private struct Level {
        var sources: [Source] = []
        var columns: [Select.Column] = []
        /// The columns by the names that they were given, the first of each.
        var aliased: [ByteKey: Select.Column] = [:]
        /// The columns that names mean anywhere, by name: see ``Scope/column(_:)``.
        var named: [ByteKey: Select.Column] = [:]
        /// The sources of collections that are named with their scopes, by these.
        var collections: [[ByteKey]: Int] = [:]
        /// How many variables are those of queries around this one.
        var variables = 0
        var isCorrelated = false
    }

    private var levels: [Level] = []
    /// The names of variables, the innermost last; `nil` while one is hidden.
    var variables: [String?] = []

    // MARK: Queries

    /// Begins a query within the present one, whose names remain known.
    mutating func begin(_ columns: [Select.Column]) {
        var level = Level(columns: columns, variables: variables.count)
        for column in columns {
            if let key = column.alias.map({ ByteKey($0) }), level.aliased[key] == nil {
                level.aliased[key] = column
            }
        }
        levels.append(level)
    }

    /// Ends the innermost query.
    ///
    /// - Returns: Whether it refers to anything of the queries around it.
    mutating func end() -> Bool { levels.popLast()?.isCorrelated ?? false }

    /// Adds a source of the innermost query.
    mutating func add(_ source: Source) { levels[levels.count - 1].sources.append(source) }

    /// Lets sources be named with the scopes of their collections: `crm.people.name`.
    mutating func nameScopes(of sources: [Select.Source]) {
        let aliases = Set(sources.map { ByteKey($0.alias.lowercased()) })
        for (place, source) in sources.enumerated() {
            guard case .collection(let name, let scope) = source.origin,
                !aliases.contains(ByteKey(scope.lowercased())), ByteKey(source.alias) == ByteKey(name)
            else { continue }
            levels[levels.count - 1].collections[[ByteKey(scope), ByteKey(name)]] = place
        }
    }

    /// Lets the columns' names be known, once all sources are: as LiteCore does. The name of a column that is made of a property of
    /// this name is that of the property, so that `SELECT lower(name) AS name … WHERE name = 'Ada'` asks for the property.
    mutating func nameColumns() {
        let aliases = Set(levels[levels.count - 1].sources.map { ByteKey($0.alias.lowercased()) })
        for column in levels[levels.count - 1].columns {
            guard let alias = column.alias, !aliases.contains(ByteKey(alias.lowercased())),
                !column.value.mentions(alias), levels[levels.count - 1].named[ByteKey(alias)] == nil
            else { continue }
            levels[levels.count - 1].named[ByteKey(alias)] = column
        }
    }

    /// The sources that a property without an alias may belong to: elements are named by their alias only.
    var ownSources: [Source] { levels.last?.sources.filter { $0.kind != .elements } ?? [] }

    /// Notes that something of the query at `depth` is referred to: those within it depend on that.
    mutating func noteUse(above depth: Int) {
        for index in levels.indices where index > depth { levels[index].isCorrelated = true }
    }

    // MARK: Names

    /// What the innermost thing of that name is. Names of sources are the same in letters of any case.
    ///
    /// - Parameter path: the path that begins with the name, which may be that of a scope.
    func meaning(of name: String, _ path: [Step] = []) -> Meaning? {
        let key = ByteKey(name)
        var end = variables.count
        for depth in levels.indices.reversed() {
            let level = levels[depth]
            for number in (level.variables..<max(end, level.variables)).reversed() {
                if let own = variables[number], ByteKey(own) == key {
                    return .variable(variables.count - 1 - number, depth: depth)
                }
            }
            end = level.variables
            if path.count >= 2, case .key(let second) = path[1],
                let place = level.collections[[key, ByteKey(second)]], place < level.sources.count
            {
                return .source(level.sources[place], depth: depth, steps: 2)
            }
            if let source = level.sources.last(where: { ByteKey($0.alias) == key }) {
                return .source(source, depth: depth, steps: 1)
            }
        }
        let lower = ByteKey(name.lowercased())
        for depth in levels.indices.reversed() {
            if let source = levels[depth].sources.last(where: { ByteKey($0.alias.lowercased()) == lower }) {
                return .source(source, depth: depth, steps: 1)
            }
        }
        return nil
    }

    /// The source of that name, which may be one of a collection with its scope.
    func source(named name: String) -> (source: Source, depth: Int)? {
        if case .source(let source, let depth, _)? = meaning(of: name) { return (source, depth) }
        let parts = name.split(separator: ".", maxSplits: 1).map { Step.key(String($0)) }
        guard parts.count == 2, case .key(let scope) = parts[0],
            case .source(let source, let depth, 2)? = meaning(of: scope, parts)
        else { return nil }
        return (source, depth)
    }

    /// The column of the innermost query that a name means, wherever it is; a variable of the name comes first.
    func column(_ name: String) -> Select.Column? {
        guard let level = levels.last, !level.named.isEmpty else { return nil }
        let key = ByteKey(name)
        let isVariable = variables[level.variables...].contains { $0.map { ByteKey($0) } == key }
        return isVariable ? nil : level.named[key]
    }

    /// The column that a name alone means in GROUP BY and ORDER BY, unless a source or a variable has that name.
    func columnAlone(_ expression: Expression) -> Select.Column? {
        guard case .path(let steps, _) = expression, steps.count == 1, case .key(let name) = steps[0],
            meaning(of: name) == nil
        else { return nil }
        return levels.last?.aliased[ByteKey(name)]
    }

    /// Makes the variables of the innermost query unknown.
    mutating func hideVariables() {
        for number in (levels.last?.variables ?? 0)..<variables.count { variables[number] = nil }
    }

    /// All names, for suggestions.
    var knownNames: [String] { levels.flatMap { $0.sources.map(\.alias) } + variables.compactMap(\.self) }
}

// MARK: - Schema

/// What statements may name in a database: its collections and their indexes, as they are when a statement is bound and planned.
final class Schema {
    private let collections: any CollectionFinder
    /// What FROM names when it names nothing.
    let defaultCollection: (name: String, scope: String)

    init(
        _ collections: any CollectionFinder,
        defaultCollection: (name: String, scope: String) = ("_default", "_default")
    ) {
        self.collections = collections
        self.defaultCollection = defaultCollection
    }

    // MARK: Indexes

    /// The lists of indexes, as they were when queries were planned by them.
    private(set) var indexLists: [DocumentCollection: IndexLists] = [:]

    private func lists(of collection: DocumentCollection) throws(DatabaseError) -> IndexLists {
        if let known = indexLists[collection] { return known }
        let lists = try IndexLists(of: collection.snapshot())
        indexLists[collection] = lists
        return lists
    }

    /// The indexes of a collection.
    func indexes(of collection: DocumentCollection) throws(QueryError) -> [CompiledIndex] {
        do throws(DatabaseError) {
            let list = try lists(of: collection).values
            return try CompiledIndexes.of(collection.database).indexes(of: collection, by: list)
        } catch {
            throw QueryError(error)
        }
    }

    /// The full-text index of a collection; the only one that there is for `nil`.
    func textIndex(_ name: String?, of collection: DocumentCollection) throws(QueryError) -> CompiledTextIndex
    {
        try CompiledTextIndex(textIndexes(of: collection).searched(name), Tokenizers.of(collection.database))
    }

    /// The full-text indexes of a collection.
    func textIndexes(of collection: DocumentCollection) throws(QueryError) -> IndexList<TextIndex> {
        do throws(DatabaseError) {
            let list = try lists(of: collection).texts
            return try CompiledIndexes.of(collection.database).textIndexes(of: collection, by: list)
        } catch {
            throw QueryError(error)
        }
    }

    // MARK: Collections

    /// The collections that were named.
    private(set) var usedCollections: [DocumentCollection] = []

    func collection(_ name: String, scope: String, _ place: Place) throws(QueryError) -> DocumentCollection {
        let isDefault = name == "_" && scope == "_default"
        let wanted = isDefault ? defaultCollection : (name, scope)
        var names: [String] = []
        do throws(DatabaseError) {
            if let found = try collections.findCollection(wanted.0, scope: wanted.1) {
                if !usedCollections.contains(found) { usedCollections.append(found) }
                return found
            }
            names = try collections.collectionNames(scope: wanted.1)
        } catch {
            throw QueryError(error)
        }
        let prefix = wanted.1 == "_default" ? "" : "\(wanted.1)."
        let shown = prefix + wanted.0
        let instead = Suggestion.textOrList(for: shown, among: names.map { prefix + $0 })
        throw QueryError("There is no collection \(shown) here\(instead)", at: place.offset)
    }
}

extension DocumentCollection {
    /// What FROM calls the collection.
    var queryName: String {
        guard scopeName == "_default" else { return "\(self)" }
        return collectionName == "_default" ? "_" : collectionName
    }
}

/// Finds the collections that queries name.
protocol CollectionFinder {
    func findCollection(_ name: String, scope: String) throws(DatabaseError) -> DocumentCollection?
    func collectionNames(scope: String) throws(DatabaseError) -> [String]
}

extension Database: CollectionFinder {
    func findCollection(_ name: String, scope: String) throws(DatabaseError) -> DocumentCollection? {
        do throws(DatabaseError) {
            return try collection(name, scope: scope, createsIfMissing: false)
        } catch {
            guard error.code == .notFound || error.code == .invalidName else { throw error }
            return nil
        }
    }

    func collectionNames(scope: String) throws(DatabaseError) -> [String] {
        try collections(scope: scope).map(\.collectionName)
    }
}
