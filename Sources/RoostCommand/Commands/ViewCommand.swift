import Fleece
import Roost
import RoostQuery

enum ViewCommand: Command {
    static let name = "view"
    static let summary = "reads a view of a design document, or lists the views there are"
    static let parameters = [
        Parameter(label: "DB", help: "the database"),
        Parameter(label: "DESIGN/VIEW", help: "the view; without it, all views are listed", isOptional: true),
    ]
    static let options = [
        .collection,
        Option("--from", "JSON", "rows from this key on"),
        Option("--to", "JSON", "rows up to this key"),
        Option("--exclusive", nil, "without the rows of the key --to"),
        Option("--key", "JSON", "rows of this key only"),
        Option("--descending", nil, "from the greatest key to the least"),
        Option("--skip", "N", "pass over so many rows or groups"),
        Option("--limit", "N", "at most so many rows or groups"),
        Option("--docs", nil, "with the documents"),
        Option("--conflicts", nil, "with --docs: and the revisions in conflict with them"),
        Option("--no-reduce", nil, "rows also where the view has a reduction"),
        Option("--group", nil, "reduce rows of equal keys"),
        Option("--group-level", "N", "reduce rows whose array keys begin with the same N elements"),
        Option("--kept", nil, "as the view was brought up last"),
    ]
    static let notes = """
        Prints a line of JSON for each row or group. The view is kept beside the documents, and brought up first;
        if another process writes the database, what it has kept is used.
        """

    static func run(_ invocation: Invocation) throws {
        let database = try open(invocation)
        let collection = try invocation.collection(of: database)
        guard let name = invocation.optional(1) else { return try list(collection) }
        let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw UsageError("A view is DESIGN/VIEW, not \"\(name)\".") }
        let view = try collection.view(parts[1], of: parts[0])
        let query = try query(invocation)
        if invocation.has("--no-reduce") || invocation.has("--docs") || !view.isReduced {
            for row in try view.rows(query) { print(row, withDocument: query.includesDocuments) }
        } else {
            for group in try view.groups(query) {
                var object = JSONObject()
                object.add("key", raw: group.key?.json() ?? "null")
                object.add("value", raw: group.value.json())
                Console.print(object.text)
            }
        }
    }

    /// Opens for writing, so that the view can be kept, unless somebody else writes.
    private static func open(_ invocation: Invocation) throws -> Database {
        do {
            return try invocation.openForWriting()
        } catch let error as DatabaseError where [.locked, .permissionDenied].contains(error.code) {
            return try invocation.openForReading()
        }
    }

    private static func list(_ collection: DocumentCollection) throws {
        for document in try collection.snapshot().documents(prefix: "_design/") {
            let name = document.id.dropFirst("_design/".count)
            for view in try collection.viewNames(of: document.id) {
                Console.print("\(name)/\(view)\t\(document["language"].string ?? "javascript")")
            }
        }
    }

    private static func query(_ invocation: Invocation) throws -> ViewQuery {
        var query = ViewQuery()
        query.start = try key("--from", invocation)
        query.end = try key("--to", invocation)
        query.keys = try key("--key", invocation).map { [$0] }
        query.includesEnd = !invocation.has("--exclusive")
        query.isDescending = invocation.has("--descending")
        query.skip = try invocation.number("--skip") ?? 0
        query.limit = try invocation.number("--limit") ?? .max
        query.includesDocuments = invocation.has("--docs")
        query.includesConflicts = invocation.has("--conflicts")
        if let level = try invocation.number("--group-level") { query.grouping = .level(level) }
        if invocation.has("--group") { query.grouping = .exact }
        if invocation.has("--kept") { query.update = .never }
        return query
    }

    private static func key(_ option: String, _ invocation: Invocation) throws -> FleeceValue? {
        guard let text = invocation.string(option) else { return nil }
        do {
            return try FleeceDocument(json: text).root
        } catch {
            throw UsageError("\(option) takes JSON, so a text needs quotes: '\"sea\"'. \(error)")
        }
    }

    private static func print(_ row: ViewRow<FleeceValue, FleeceValue>, withDocument: Bool) {
        var object = JSONObject()
        object.add("id", row.id)
        object.add("key", raw: row.key.json())
        object.add("value", raw: row.value.json())
        if withDocument { object.add("doc", raw: row.document?.json(with: .all) ?? "null") }
        if !row.conflicts.isEmpty {
            object.add("conflicts", raw: JSONObject.array(row.conflicts.map { JSONObject.quoted("\($0)") }))
        }
        Console.print(object.text)
    }
}
