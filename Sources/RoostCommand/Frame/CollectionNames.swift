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
        let near = Suggestion.text(for: name, among: names)
        return CommandFailure("There is no collection \(name) here\(near.isEmpty ? list(names) : near)")
    }

    /// Adds which collections there are to the error of a query that names one which is missing, and like none of them.
    static func told<R>(of database: Database, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as DatabaseError where isMissing(error) {
            throw CommandFailure(error.message + list(try all(of: database)))
        }
    }

    private static func isMissing(_ error: DatabaseError) -> Bool {
        guard let cause = error.underlying as? QueryError else { return false }
        return cause.message.hasPrefix("There is no collection ") && !cause.message.hasSuffix("?")
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(most).map { $0 == "_default" ? "_default (write _)" : $0 }
        let more = names.count > most ? " and \(names.count - most) more" : ""
        return "; there is \(shown.joined(separator: ", "))\(more)."
    }

    /// Longer lists are cut off.
    private static let most = 8
}
