import Roost
import RoostOrder

/// Decides how queries are executed, the one that was asked and those within it.
final class Planner {
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

    func plan(_ select: Select, _ compiler: Compiler) throws(QueryError) -> SelectPlan {
        let planning = SelectPlanning(select, self, compiler)
        let plan = try planned(planning)
        plan.otherOrders = planning.otherOrders.compactMap { other in
            try? planned(SelectPlanning(other, self, compiler))
        }
        return plan
    }

    private func planned(_ planning: SelectPlanning) throws(QueryError) -> SelectPlan {
        let compiler = planning.compiler
        return try compiler.withScope { () throws(QueryError) in
            compiler.scope.beginSelect()
            let saved = compiler.grouping
            compiler.grouping = nil
            defer { compiler.grouping = saved }
            return try planning.planned()
        }
    }

    // MARK: Queries within expressions

    /// Whether a query has rows.
    func existence(_ select: Select, _ compiler: Compiler) throws(QueryError) -> Evaluation {
        let plan = try inner(select, compiler)
        return { frame in
            frame.rows(of: plan, limit: 1).map { .bool(!$0.isEmpty) } ?? .null
        }
    }

    /// The rows of a query as an array; the values themselves where a row has one column, and the value where there is
    /// only one for certain.
    func rows(_ select: Select, _ compiler: Compiler) throws(QueryError) -> Evaluation {
        let plan = try inner(select, compiler)
        return { frame in frame.rows(of: plan, limit: .max).map { frame.value(of: $0, plan) } ?? .null }
    }

    /// The plan of a query within another one.
    func inner(_ select: Select, _ compiler: Compiler) throws(QueryError) -> SelectPlan {
        let known = compiler.program.sourceCount
        let (plan, touched) = try compiler.tracking { () throws(QueryError) -> SelectPlan in
            try compiler.withinQuery { () throws(QueryError) -> SelectPlan in try self.plan(select, compiler)
            }
        }
        plan.isCorrelated = touched.contains { $0 < known } || compiler.scope.hasVariables
        return plan
    }

    /// The collections that queries were planned for.
    private(set) var usedCollections: [DocumentCollection] = []

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
            return try collection(name, scope: scope, createIfMissing: false)
        } catch {
            guard error.code == .notFound || error.code == .invalidName else { throw error }
            return nil
        }
    }

    func collectionNames(scope: String) throws(DatabaseError) -> [String] {
        try collections(scope: scope).map(\.collectionName)
    }
}

extension Scope {
    /// Whether variables of ANY or EVERY are known.
    var hasVariables: Bool { knownMeanings.contains { if case .variable = $0 { true } else { false } } }
}
