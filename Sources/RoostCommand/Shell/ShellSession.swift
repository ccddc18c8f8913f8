import Roost

/// What a conversation is about, and what was set in it.
final class ShellSession {
    let path: String
    /// Read by queries; commands open the database themselves.
    let database: Database
    /// The collection that is meant where none is named; `nil` for the default one.
    var collection: String?
    /// The values of parameters in queries.
    var parameters: [String: DocumentValue] = [:]
    /// How rows are printed.
    var mode: OutputMode
    /// The file that everything is printed to; `nil` for standard output.
    var output: String?
    /// The file that the next statement prints to.
    var once: String?
    /// Whether each statement is followed by how long it took.
    var isTimed = false
    /// Whether long results are shown page by page, where the output is a terminal.
    var isPaged = true

    init(path: String, _ database: Database, collection: String?, mode: OutputMode) {
        self.path = path
        self.database = database
        self.collection = collection
        self.mode = mode
    }

    /// The collection that is meant where none is named, as it is now.
    func present() throws -> DocumentCollection {
        _ = try database.refresh()
        guard let collection else { return try database.defaultCollection }
        return try database.collection(named: collection, createsIfMissing: false)
    }

    /// What is said first: what is in the database, and how to ask for it.
    func greeting() throws -> String {
        let collections = try database.scopes.flatMap { try database.collections(scope: $0) }
        let shown = try collections.prefix(Self.mostShown).enumerated().map { index, collection in
            let count = try collection.count
            let figure = index == 0 ? Count.text(count, "document") : Count.grouped(count)
            return "\(CollectionNames.name(collection)) with \(figure)"
        }
        let more =
            collections.count > shown.count
            ? " and \(Count.text(collections.count - shown.count, "collection")) more" : ""
        return """
            Roost \(RoostTool.version). \(path) has \(shown.joined(separator: ", "))\(more).
            Ask a query, such as `SELECT * FROM _ LIMIT 10;`, or type a command. `help` tells more, Ctrl-D ends.
            """
    }

    private static let mostShown = 5
}
