import Roost
import RoostOrder

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
