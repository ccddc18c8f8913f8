import Fleece
import Roost
import RoostCrypto
import RoostQuery
import RoostWire

/// Which changes belong to a feed.
enum ChangeFilter: Sendable {
    case all
    /// These documents only.
    case documents(Set<ByteKey>)
    /// Design documents only.
    case design
    /// What a Mango selector matches.
    case selector(MangoFilter)
    /// What a view emits something for.
    case view(ViewBody.DesignView)
    /// What a function of a design document says.
    case script(@Sendable ([Document], CollectionSnapshot) throws -> [Bool])
    /// What a function of the app says.
    case function(@Sendable (ExaminedDocument) -> Bool)

    /// - Parameter text: The body of a POST; `nil` for any other request.
    /// - Throws: 404 for a filter that the app has not registered, 400 for one that can't be, 501 for one that is not here.
    init(_ target: DatabaseContext, _ text: [UInt8]?) throws {
        let query = target.query
        let body = try text.flatMap { $0.isEmpty ? nil : try FleeceText.parse($0).root }
        switch query["filter"] {
        case nil, "": self = .all
        case "_design": self = .design
        case "_doc_ids":
            let given = try body?["doc_ids"] ?? query.json("doc_ids")?.root ?? .undefined
            if let id = given.string {
                self = .documents([ByteKey(id)])
            } else if let ids = given.array, ids.allSatisfy({ $0.string != nil }) {
                self = .documents(Set(ids.compactMap { $0.string.map { ByteKey($0) } }))
            } else {
                throw HTTPFailure.badRequest("`doc_ids` filter parameter is not a list of doc ids.")
            }
        case "_selector":
            guard let selector = body.flatMap({ DocumentValue($0["selector"]) }) else {
                throw HTTPFailure.badRequest("Selector must be specified in POST payload")
            }
            self = .selector(try Self.selector(selector, target))
        case "_view":
            let parts = (query["view"] ?? "").split(separator: "/").map(String.init)
            guard parts.count == 2 else {
                throw HTTPFailure.badRequest("`view` filter parameter is not provided.")
            }
            self = .view(try ViewRoutes.view(parts[1], "_design/\(parts[0])", target))
        case let name? where name.begins(with: "_"):
            throw HTTPFailure.badRequest("unknown builtin filter name")
        case let name?:
            guard name.split(separator: "/").count == 2 else {
                throw HTTPFailure.badRequest("filter parameter must be of the form `designname/filtername`")
            }
            guard let function = target.context.router.hooks.filter(name) else {
                self = try Self.script(name, target, text)
                return
            }
            let user = target.user
            self = .function { function($0, { query[$0] }, user) }
        }
    }

    private static func selector(_ selector: DocumentValue, _ target: DatabaseContext) throws -> MangoFilter {
        guard selector.dictionary != nil else {
            throw HTTPFailure.badRequest("Selector error: expected a JSON object")
        }
        let filter: MangoFilter
        do throws(DatabaseError) {
            filter = try MangoFilter(selector, of: target.collection)
        } catch {
            throw error.code == .invalidQuery ? HTTPFailure.badRequest(error.message) : HTTPFailure(error)
        }
        guard !target.isLimited || !filter.readsConflicts else {
            throw HTTPFailure.forbidden("_conflicts is for administrators of this database.")
        }
        return filter
    }

    /// A function under `filters` of a design document.
    private static func script(
        _ name: String, _ target: DatabaseContext, _ body: [UInt8]?
    ) throws -> ChangeFilter {
        let parts = name.split(separator: "/").map(String.init)
        guard let design = try target.collection.document("_design/\(parts[0])") else {
            throw HTTPFailure.missing
        }
        guard design["filters"][parts[1]].exists else {
            throw HTTPFailure(404, "not_found", "missing json key: \(parts[1])")
        }
        guard let language = target.context.router.hooks.language(of: design) else {
            throw HTTPFailure.notImplemented(
                "The language \(design["language"].string ?? "javascript") of \(design.id)")
        }
        let request = try FilterRequest.json(target, body: body).bytes
        let collection = target.collection
        return .script { documents, snapshot in
            let texts = try documents.map {
                try snapshot.jsonBytes(
                    $0, with: [.id, .revision, .deletion, .attachments, .md5Digests, .revisions])
            }
            return try language.filter(
                parts[1], of: design, in: collection, texts, request: request)
        }
    }

    /// Whether many documents are asked about at once.
    var takesMany: Bool {
        switch self {
        case .view, .script: true
        case .all, .documents, .design, .selector, .function: false
        }
    }

    /// Whether it looks at documents, each leaf by itself, rather than at IDs.
    var readsDocuments: Bool {
        switch self {
        case .selector, .view, .script, .function: true
        case .all, .documents, .design: false
        }
    }

    /// Whether a document of this ID may belong to the feed.
    func lets(_ id: String) -> Bool {
        switch self {
        case .documents(let ids): ids.contains(ByteKey(id))
        case .design: id.begins(with: "_design/")
        case .all, .selector, .view, .script, .function: true
        }
    }

    /// Which of these documents belong to the feed.
    ///
    /// - Parameter snapshot: The snapshot that they were read from.
    ///
    /// Ends between two documents when the request is cancelled, since looking at one may take long.
    func chosen(of documents: [Document], at snapshot: CollectionSnapshot) throws -> [Bool] {
        try Task.checkCancellation()
        switch self {
        case .all, .documents, .design: return documents.map { lets($0.id) }
        case .selector(let selector):
            return try documents.map { document in
                try Task.checkCancellation()
                return try selector.matches(document, at: snapshot)
            }
        case .view(let view):
            return try documents.map { document in
                try Task.checkCancellation()
                return try view.emits(for: document, at: snapshot)
            }
        case .script(let filter): return try filter(documents, snapshot)
        case .function(let function):
            return documents.map {
                function(ExaminedDocument(id: $0.id, isDeleted: $0.isDeleted, properties: $0.properties))
            }
        }
    }
}

/// The request for changes as filters of design documents see it, in CouchDB's form.
enum FilterRequest {
    /// Fields that carry credentials.
    private static let secrets = ["Authorization", "Proxy-Authorization", "Cookie", "X-Auth-CouchDB-Token"]
    /// Parameters whose values CouchDB gives as JSON.
    private static let values = ["startkey", "endkey", "key", "descending"]

    /// - Parameter body: The body of a POST; `nil` for any other request.
    static func json(_ target: DatabaseContext, body: [UInt8]?) throws -> JSON {
        let (context, path) = (target.context, JSON.strings(target.context.path))
        return [
            "info": try DatabaseRoutes.information(target),
            "uuid": .string(RandomText.hexadecimal(bytes: 16)),
            "id": nil, "method": .string(context.method), "requested_path": path, "path": path,
            "raw_path": .string(context.request.target), "query": query(target.query.parameters),
            "headers": headers(context.headers),
            "body": .string(body.map { String(decoding: $0, as: UTF8.self) } ?? "undefined"),
            "peer": .string(context.request.peer), "form": [:], "cookie": [:],
            "userCtx": target.user.json(in: target.served.name.text),
            "secObj": .text(try target.served.securityText()),
        ]
    }

    private static func query(_ parameters: QueryParameters) -> JSON {
        .object(
            parameters.values.map { name, text in
                guard values.contains(name), let value = try? FleeceDocument(json: text) else {
                    return (name, .string(text))
                }
                return (name, .text(value.root.jsonBytes()))
            })
    }

    /// All fields but the secret ones, under names in capitals as CouchDB writes them.
    private static func headers(_ headers: HTTPHeaders) -> JSON {
        var headers = headers
        for name in secrets { headers[name] = nil }
        var values: [(String, String)] = []
        for field in headers.fields {
            let name = field.name.split(separator: "-", omittingEmptySubsequences: false)
                .map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }.joined(separator: "-")
            if let index = values.firstIndex(where: { $0.0 == name }) {
                values[index].1 += ", \(field.value)"
            } else {
                values.append((name, field.value))
            }
        }
        return .object(values.map { ($0.0, .string($0.1)) })
    }
}
