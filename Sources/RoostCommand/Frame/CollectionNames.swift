import Roost
import RoostQuery

/// The names of a database's collections, as people type them.
enum CollectionNames {
    /// NAME in the default scope, SCOPE.NAME in another one.
    static func all(of database: Database) throws -> [String] {
        try database.scopes.flatMap { scope in
            try database.collections(scope: scope).map(name)
        }
    }

    static func name(_ collection: DocumentCollection) -> String {
        collection.scopeName == "_default" ? collection.collectionName : "\(collection)"
    }

    /// That there is no collection of a name, and which there are.
    static func missing(_ name: String, in database: Database) -> CommandFailure {
        let names = (try? all(of: database)) ?? []
        let instead = Suggestion.textOrList(for: name, among: names)
        return CommandFailure(
            "There is no collection \(name) here\(instead.isEmpty ? "." : instead)")
    }
}
