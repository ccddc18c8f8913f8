import Fleece
import Roost
import RoostCrypto
import RoostQuery
import RoostSync
import RoostWire

/// Replications that the server runs: `_replicate` and `_scheduler`. For administrators: they reach out to wherever they are told
/// to.
enum ReplicationRoutes {
    // MARK: _replicate

    static func replicate(_ context: RequestContext) async throws -> HTTPResponse {
        try context.allow("POST")
        try Security.requireServerAdmin(context.user)
        let body = try await context.object().root
        do {
            switch try await outcome(body, context.router.replicator) {
            case .finished(let status):
                return context.answer(200, try result(status, namesDocuments: body["doc_ids"].array != nil))
            case .running(let id): return context.answer(202, ["ok": true, "_local_id": .string(id)])
            case .cancelled(let id): return context.answer(200, ["ok": true, "_local_id": .string(id)])
            }
        } catch let error as ReplicationRequestError {
            throw HTTPFailure.badRequest(error.description)
        } catch is UnknownJobError {
            throw HTTPFailure(404, "not_found", "There is no such replication.")
        } catch let error as MissingDatabaseError {
            throw HTTPFailure(404, "db_not_found", "could not open \(error.name)")
        } catch let error as RemoteError {
            throw HTTPFailure(
                error.status == 404 ? 404 : 500, error.status == 404 ? "db_not_found" : "replication_error",
                "\(error)")
        } catch let error as TransportError {
            throw HTTPFailure(500, "replication_error", error.description)
        }
    }

    private static func outcome(
        _ body: FleeceValue, _ replicator: ReplicatorManager
    ) async throws -> ReplicatorManager.Outcome {
        if body["cancel"].bool == true, let id = body["replication_id"].string ?? body["_local_id"].string {
            return try await replicator.cancel(id)
        }
        return try await replicator.replicate(try ReplicationRequest(DocumentValue(body) ?? .null))
    }

    /// - Parameter namesDocuments: Whether the request names the documents: the counts of such a one are members of their own, too.
    private static func result(_ status: ReplicationStatus, namesDocuments: Bool) throws -> JSON {
        guard let checkpoint = status.checkpoint, let position = checkpoint.position else {
            return ["ok": true, "no_changes": true, "replication_id_version": 4]
        }
        let history = checkpoint.history.map { session -> JSON in
            [
                "session_id": .string(session.id), "start_time": .string(session.startTime ?? ""),
                "end_time": .string(session.endTime ?? ""),
                "start_last_seq": .text(Array((session.start?.json ?? "0").utf8)),
                "recorded_seq": .text(Array(session.position.json.utf8)),
                "end_last_seq": .text(Array(session.position.json.utf8)),
                "missing_checked": .number(session.missingChecked),
                "missing_found": .number(session.missingFound),
                "docs_read": .number(session.docsRead), "docs_written": .number(session.docsWritten),
                "doc_write_failures": .number(session.docWriteFailures),
            ]
        }
        var members: [(String, JSON)] = [("ok", true)]
        if status.pushed.checked == 0, status.pushed.missing == 0, status.problemCount == 0 {
            members.append(("no_changes", true))
        }
        members += [
            ("session_id", .string(checkpoint.session)),
            ("source_last_seq", .text(Array(position.json.utf8))),
            ("replication_id_version", 4), ("history", .array(history)),
        ]
        if namesDocuments, let session = checkpoint.history.first {
            members += [
                ("start_time", .string(session.startTime ?? "")),
                ("end_time", .string(session.endTime ?? "")),
                ("docs_read", .number(session.docsRead)), ("docs_written", .number(session.docsWritten)),
                ("doc_write_failures", .number(session.docWriteFailures)),
            ]
        }
        return .object(members)
    }

    // MARK: _scheduler

    static func scheduler(_ context: RequestContext) async throws -> HTTPResponse {
        try context.allow("GET")
        try Security.requireServerAdmin(context.user)
        let path = Array(context.path.dropFirst())
        let replicator = context.router.replicator
        switch path.first {
        case "jobs" where path.count <= 2:
            return try answer("jobs", await replicator.jobRows(), path.count == 2 ? path[1] : nil, context)
        case "docs" where path.count <= 3 && (path.count == 1 || path[1] == ReplicatorManager.databaseName):
            return try answer(
                "docs", try await replicator.documentRows(), path.count == 3 ? path[2] : nil, context)
        default: throw HTTPFailure.missing
        }
    }

    /// One of the rows, or a page of them.
    private static func answer(
        _ name: String, _ rows: [(id: String, row: DocumentValue)], _ id: String?, _ context: RequestContext
    ) throws -> HTTPResponse {
        if let id {
            guard let found = rows.first(where: { $0.id.isIdentical(to: id) }) else {
                throw HTTPFailure.missing
            }
            return context.answer(try json(found.row))
        }
        let skip = try context.query.count("skip") ?? 0
        let part = rows.dropFirst(skip).prefix(try context.query.count("limit") ?? 25)
        return context.answer([
            "total_rows": .number(rows.count), "offset": .number(skip),
            name: .array(try part.map { try json($0.row) }),
        ])
    }

    static func json(_ row: DocumentValue) throws -> JSON { .text(Array(try row.json().utf8)) }

    // MARK: _replicator

    /// - Throws: 403 `forbidden` for a document that requests an impossible replication.
    static func check(_ revision: WriteGate.Revision) throws {
        guard !revision.isDeleted, !revision.id.begins(with: "_") else { return }
        do {
            _ = try ReplicationRequest(DocumentValue(revision.properties) ?? .null)
        } catch let error as ReplicationRequestError {
            throw HTTPFailure.forbidden(error.description)
        }
    }
}

/// The filters by which a replication that the server runs chooses documents of one of its own databases: those that `_changes` has for
/// administrators.
enum ReplicationFilters {
    /// - Parameter database: The database's name.
    static func make(of database: String, _ hooks: Hooks) -> LocalFilters {
        { filter, collection in
            switch filter {
            case .selector(let json): try selector(json, collection)
            case .named(let name, let parameters): try named(name, parameters, database, collection, hooks)
            }
        }
    }

    private static func selector(
        _ json: String, _ collection: DocumentCollection
    ) throws -> ReplicationFilter {
        let filter = try MangoFilter(DocumentValue(json: json), of: collection)
        // The selector itself distinguishes replications.
        return ReplicationFilter("_selector", version: "") { document in
            try filter.matches(document, at: collection.snapshot())
        }
    }

    private static func named(
        _ name: String, _ parameters: [String: String], _ database: String, _ collection: DocumentCollection,
        _ hooks: Hooks
    ) throws -> ReplicationFilter {
        if let function = hooks.filter(name) {
            return ReplicationFilter(name, version: "") { document in
                let examined = ExaminedDocument(
                    id: document.id, isDeleted: document.isDeleted, properties: document.properties)
                return function(examined, { parameters[$0] }, .admin)
            }
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let design = try collection.document("_design/\(parts[0])"),
            let text = design["filters"][parts[1]].string, let language = hooks.language(of: design)
        else {
            throw DatabaseError(.invalidQuery, "There is no filter \(name) in the database \(database).")
        }
        let request: JSON = [
            "query": .object(parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }),
            "userCtx": UserContext.admin.json(in: database), "headers": [:], "form": [:], "cookie": [:],
            "method": "GET", "body": "undefined",
        ]
        let version = RandomText.text(Array(SHA256.hash(Array(text.utf8)).bytes.prefix(16)))
        return ReplicationFilter(name, version: version) { document in
            let text = try collection.snapshot().jsonBytes(
                document, with: [.id, .revision, .deletion, .attachments, .md5Digests, .revisions])
            return try language.filter(
                parts[1], of: design, in: collection, [text], request: request.bytes)[0]
        }
    }
}
