import Fleece
import Roost
import RoostWire

/// What concerns one database as a whole.
enum DatabaseRoutes {
    // MARK: The database itself

    static func createOrDelete(_ context: RequestContext, _ name: DatabaseName) throws -> HTTPResponse {
        try Security.requireServerAdmin(context.user)
        if context.method == "PUT" { return try create(context, name) }
        guard context.query["rev"] == nil else {
            throw HTTPFailure.badRequest(
                "You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document instead?"
            )
        }
        if name.collection == nil {
            do {
                guard try context.router.databases.delete(name.text) else { throw HTTPFailure.noDatabase }
            } catch let error as DatabaseError where error.code == .notADatabase {
                // What is there is not only the database's, so it stays.
                throw HTTPFailure.forbidden(error.message)
            }
        } else {
            let served = try Routes.open(name, context)
            try served.database.drop(served.collection)
        }
        return context.answer(["ok": true])
    }

    private static func create(_ context: RequestContext, _ name: DatabaseName) throws -> HTTPResponse {
        if try context.query.flag("partitioned") {
            throw HTTPFailure.badRequest("Partitioned databases are not supported by Roost.")
        }
        let manager = context.router.databases
        if name.collection == nil { manager.closeRemoved(name) }
        guard try !isPresent(name, context) else {
            throw HTTPFailure(
                412, "file_exists", "The database could not be created, the file already exists.")
        }
        if let place = name.collection {
            guard let database = try manager.open(name, creating: false) else { throw HTTPFailure.noDatabase }
            _ = try database.collection(place.name, scope: place.scope)
        } else {
            _ = try manager.open(name, creating: true)?.defaultCollection
        }
        return context.answer(
            201, ["ok": true],
            headers: ["Location": context.address("/\(PercentEncoding.encode(name.text))")])
    }

    /// - Throws: The error of a database that is there and can't be opened.
    private static func isPresent(_ name: DatabaseName, _ context: RequestContext) throws -> Bool {
        do {
            _ = try Routes.open(name, context)
            return true
        } catch let failure as HTTPFailure where failure.status == 404 {
            return false
        }
    }

    static func respond(_ target: DatabaseContext) async throws -> HTTPResponse {
        try target.context.allow("GET", "PUT", "POST", "DELETE")
        if target.context.method == "POST" { return try await DocumentRoutes.post(target) }
        return target.context.answer(try information(target))
    }

    /// The answer to `GET /db`.
    static func information(_ target: DatabaseContext) throws -> JSON {
        guard target.isLimited else { return try information(target.served, target.context.router) }
        // What replicators look at, and nothing that changes with what the user does not see.
        let snapshot = try target.collection.snapshot()
        let end = try ChannelFeed.end(target.user, snapshot)
        return [
            "db_name": .string(target.served.name.text),
            "instance_start_time": .string(target.served.instanceStartTime),
            "update_seq": .string(target.channelTokens(snapshot).text(end)),
        ]
    }

    /// The answer to `GET /db` for users who see everything.
    static func information(_ served: ServedDatabase, _ router: Router) throws -> JSON {
        let isCompacting =
            router.compactionRequests.contains(served.name.base)
            || served.database.compactionUnderWay != nil
        let snapshot = try served.collection.snapshot()
        let statistics = try served.database.statistics()
        return [
            "instance_start_time": .string(served.instanceStartTime), "db_name": .string(served.name.text),
            "purge_seq": .string(served.token(snapshot.purgeSequence)),
            "update_seq": .string(served.token(snapshot.lastSequence)),
            "sizes": [
                "file": .number(statistics.fileBytes), "external": .number(statistics.liveBytes),
                "active": .number(statistics.liveBytes),
            ],
            "props": [:], "doc_del_count": .number(try snapshot.deletedCount),
            "doc_count": .number(snapshot.count), "disk_format_version": 8,
            "compact_running": .bool(isCompacting),
            "cluster": ["q": 1, "n": 1, "w": 1, "r": 1],
        ]
    }

    // MARK: Functions

    static func respond(_ target: DatabaseContext, function path: [String]) async throws -> HTTPResponse {
        let context = target.context
        switch path[0] {
        case "_all_docs", "_design_docs", "_local_docs":
            return try await DocumentLists.respond(target, path)
        case "_bulk_docs":
            try context.allow("POST")
            context.router.statistics.bulkRequests.add()
            return try await BulkSaving.save(target)
        case "_bulk_get":
            try context.allow("POST")
            context.router.statistics.bulkRequests.add()
            return try await BulkDocuments.get(target)
        case "_changes": return try await ChangesRoutes.respond(target)
        case "_revs_diff", "_missing_revs":
            try context.allow("POST")
            return try await RevisionRoutes.difference(target, isDiff: path[0] == "_revs_diff")
        case "_blipsync" where path.count == 1: return try BLIPSyncRoutes.respond(target)
        case "_revs_limit": return try await RevisionRoutes.limit(target)
        case "_purge":
            try context.allow("POST")
            return try await RevisionRoutes.purge(target)
        case "_purged_infos":
            try context.allow("GET")
            return try RevisionRoutes.purges(target)
        case "_purged_infos_limit":
            try context.allow("GET", "PUT")
            return context.answer(context.method == "GET" ? 1000 : ["ok": true])
        case "_security": return try await security(target)
        case "_compact", "_view_cleanup":
            try context.allow("POST")
            try target.security.requireAdmin(target.user)
            try context.checkIsJSON()
            if path == ["_compact"] { try compact(target) }
            if path.count > 1, path[0] == "_compact",
                try target.collection.document("_design/\(path[1])") == nil
            {
                throw HTTPFailure.missing
            }
            if path == ["_view_cleanup"] {
                _ = try target.collection.cleanUpViews()
            }
            return context.answer(202, ["ok": true])
        case "_ensure_full_commit":
            try context.allow("POST")
            try context.checkIsJSON()
            return context.answer(
                201, ["ok": true, "instance_start_time": .string(target.served.instanceStartTime)])
        case "_find":
            try context.allow("POST")
            return try await FindRoutes.find(target)
        case "_explain":
            try context.allow("POST")
            return try await FindRoutes.explain(target)
        case "_query": return try await QueryRoutes.respond(target)
        case "_index": return try await IndexRoutes.respond(target, Array(path.dropFirst()))
        case "_user", "_role": return try await PrincipalRoutes.respond(target, path)
        case "_shards", "_sync_shards", "_auto_purge":
            throw HTTPFailure.notImplemented(path[0])
        case "_temp_view": throw HTTPFailure(410, "gone", "Temporary views are not supported in CouchDB")
        case "_partition": throw HTTPFailure.badRequest("database is not partitioned")
        default:
            if context.method == "PUT" {
                throw HTTPFailure(
                    400, "illegal_docid", "Only reserved document ids may start with underscore.")
            }
            throw HTTPFailure.missing
        }
    }

    /// How many bytes a security object may have, which is read with each request.
    private static let mostSecurity = 64 << 10

    private static func security(_ target: DatabaseContext) async throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET", "PUT")
        if context.method == "GET" { return context.answer(.text(try target.served.securityText())) }
        try target.security.requireAdmin(target.user)
        let object = try await context.object()
        for group in ["admins", "members", "readers"] where object.root[group].exists {
            guard object.root[group].dictionary != nil else {
                throw HTTPFailure.badRequest("\(group) must be a JSON object")
            }
            for list in ["names", "roles"] where object.root[group][list].exists {
                guard object.root[group][list].array?.allSatisfy({ $0.kind == .string }) == true else {
                    throw HTTPFailure.badRequest("\(group).\(list) must be a JSON list of strings")
                }
            }
        }
        let text = object.root.jsonBytes()
        guard text.count <= mostSecurity else {
            throw HTTPFailure(
                413, "too_large",
                "The security object has \(text.count) bytes; the most is \(mostSecurity). Use roles.")
        }
        try await target.served.setSecurity(text)
        return context.answer(["ok": true])
    }

    /// Starts a compaction in the background. Removes earlier revisions at once.
    private static func compact(_ target: DatabaseContext) throws {
        let (database, name) = (target.served.database, target.served.name.base)
        let router = target.context.router
        router.compactionRequests.begin(name)
        do {
            try database.removeEarlierRevisions()
        } catch {
            router.compactionRequests.end(name)
            throw error
        }
        Task.detached {
            _ = try? await database.compact()
            router.compactionRequests.end(name)
        }
    }
}
