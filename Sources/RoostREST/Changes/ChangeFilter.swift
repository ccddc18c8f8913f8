import Fleece
import Roost

/// Which changes belong to a feed.
enum ChangeFilter: Sendable {
    case all
    /// These documents only.
    case documents(Set<String>)
    /// Design documents only.
    case design
    /// What a function of the app says.
    case function(@Sendable (ExaminedDocument) -> Bool)

    /// - Throws: 404 for a filter that the app has not registered, 400 for one that can't be, 501 for one that is not here.
    init(_ target: DatabaseContext, _ body: FleeceValue?) throws {
        let query = target.query
        switch query["filter"] {
        case nil, "": self = .all
        case "_design": self = .design
        case "_doc_ids":
            let given = try body?["doc_ids"] ?? query.json("doc_ids")?.root ?? .undefined
            if let id = given.string {
                self = .documents([id])
            } else if let ids = given.array {
                self = .documents(Set(ids.compactMap(\.string)))
            } else {
                throw HTTPFailure.badRequest("`doc_ids` filter parameter is not a list.")
            }
        case "_selector": throw HTTPFailure.notImplemented("The filter _selector")
        case "_view": throw HTTPFailure.notImplemented("The filter _view")
        case let name? where name.hasPrefix("_"):
            throw HTTPFailure.badRequest("unknown builtin filter name")
        case let name?:
            guard name.split(separator: "/").count == 2 else {
                throw HTTPFailure.badRequest("filter parameter must be of the form `designname/filtername`")
            }
            guard let function = target.context.router.hooks.filters[name] else {
                throw HTTPFailure(404, "not_found", "missing json key: \(name)")
            }
            let user = target.user
            self = .function { function($0, { query[$0] }, user) }
        }
    }

    /// Whether the document itself must be looked at.
    var needsDocument: Bool {
        if case .function = self { return true }
        return false
    }

    /// Whether a change belongs to the feed.
    ///
    /// - Parameter document: Reads the document, where the answer depends on it.
    func lets(_ change: Change, _ document: () throws -> Document) throws -> Bool {
        switch self {
        case .all: return true
        case .documents(let ids): return ids.contains(change.id)
        case .design: return change.id.hasPrefix("_design/")
        case .function(let function):
            let document = try document()
            return function(
                ExaminedDocument(
                    id: document.id, isDeleted: document.isDeleted, properties: document.properties))
        }
    }
}
