import Fleece
import Roost
import RoostWire
import Synchronization

/// A database behind CouchDB's HTTP API.
package final class RemotePeer: ReplicationPeer {
    /// Asks the server.
    let client: RemoteClient
    /// The revisions of the checkpoints that were read or saved, which the next save must name.
    private let revisions = Mutex<[String: String]>([:])
    /// Whether the server has said that it does not know `_bulk_get`.
    private let lacksBulkGet = Mutex(false)

    init(_ client: RemoteClient) { self.client = client }

    func create() async throws {
        do {
            _ = try await client.json(client.put("", "{}"))
        } catch let error as RemoteError where error.status == 412 {
            // It is there already.
        }
    }

    package func identity() async throws -> String {
        let server = try await client.json(client.root)
        let database = try await client.json(client.get(""))
        // A server's UUID is the same at every address; servers without one are identified by their databases.
        let uuid = server["uuid"].string ?? database["instance_start_time"].string ?? ""
        return "\(uuid)/\(client.database)"
    }

    package func filterCode(_ selection: ReplicationSelection) async throws -> String? {
        guard case .named(let name, let parameters)? = selection.serverFilter else { return nil }
        // The filter `_view` is the map function of the view that a parameter names.
        let isView = name == "_view"
        let parts = (isView ? parameters["view"] ?? "" : name).split(separator: "/", maxSplits: 1)
        guard parts.count == 2,
            let design = try await client.jsonIfFound(
                client.get(RemoteClient.path("_design/\(parts[0])")))
        else { return nil }
        let function = design[isView ? "views" : "filters"][String(parts[1])]
        return (isView ? function["map"] : function).string
    }

    // MARK: Changes

    package func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch {
        let style = selection.winnersOnly ? "main_only" : "all_docs"
        var query = "?style=\(style)&limit=\(limit)"
        if let position { query += "&since=\(position.query)" }
        let answer = try await client.bytes(try changesRequest(query, selection))[...]
        guard let rows = JSONParts.member("results", of: answer).flatMap(JSONParts.elements),
            let last = JSONParts.member("last_seq", of: answer),
            let position = try? FleeceDocument(json: last)
        else { throw client.malformed("its changes have no results") }
        let documents = try rows.map { try changedDocument($0) }.filter { selection.includes($0.id) }
        let pending = JSONParts.member("pending", of: answer).flatMap {
            try? FleeceDocument(json: $0).root.int
        }
        return ChangeBatch(
            documents: documents, position: SourcePosition(json: position.root.json()), pending: pending,
            isLast: rows.count < limit || pending == 0)
    }

    /// A row of changes. One that names a document, or a revision of it, as nothing here can be named is a problem of that document
    /// alone.
    private func changedDocument(_ text: ArraySlice<UInt8>) throws -> ChangedDocument {
        guard let row = try? FleeceDocument(json: text).root else {
            let id = String(decoding: JSONParts.member("id", of: text) ?? text.prefix(100), as: UTF8.self)
            let problem = ReplicationProblem(id, nil, client.malformed("a row of its changes is no JSON"))
            return ChangedDocument(id: id, leaves: [], problems: [problem])
        }
        guard let id = row["id"].string, let changes = row["changes"].array else {
            throw client.malformed("a row of its changes has no id")
        }
        var leaves: [RevisionID] = []
        var problems: [ReplicationProblem] = []
        for change in changes {
            guard let text = change["rev"].string else { throw client.malformed("a change has no rev") }
            do throws(DatabaseError) {
                leaves.append(try RevisionID(validating: text))
            } catch {
                problems.append(ReplicationProblem(id, unusable: text, error))
            }
        }
        return ChangedDocument(id: id, leaves: leaves, problems: problems)
    }

    /// How many documents are looked up at a time: CouchDB reads all changes for more than that.
    private static let mostLookedUp = 100

    package func leaves(of ids: [String]) async throws -> [ChangedDocument] {
        var found: [ChangedDocument] = []
        for start in stride(from: 0, to: ids.count, by: Self.mostLookedUp) {
            let part = ids[start..<min(start + Self.mostLookedUp, ids.count)]
            let selection = ReplicationSelection(documentIDs: Set(part))
            found += try await changes(after: nil, limit: part.count, selection).documents
        }
        return found
    }

    private func changesRequest(
        _ query: String, _ selection: ReplicationSelection
    ) throws -> RemoteRequest {
        // Lists go in the body: a URL has no room for them.
        if let ids = selection.identities {
            let body = DocumentValue.dictionary(["doc_ids": .array(ids.sorted().map { .string($0.text) })])
            return client.post("/_changes" + query + "&filter=_doc_ids", try body.json())
        }
        switch selection.serverFilter {
        case .selector(let json)?:
            let body = DocumentValue.dictionary(["selector": try DocumentValue(json: json)])
            return client.post("/_changes" + query + "&filter=_selector", try body.json())
        case .named(let name, let parameters)?:
            let values = parameters.sorted { $0.key < $1.key }.map {
                "&\(PercentEncoding.encode($0))=\(PercentEncoding.encode($1))"
            }
            return client.get(
                "/_changes" + query + "&filter=\(PercentEncoding.encode(name))" + values.joined())
        case nil: return client.get("/_changes" + query)
        }
    }

    package func untilChanged(after position: SourcePosition?) async throws {
        var query = "?feed=longpoll&heartbeat=10000&limit=1"
        if let position { query += "&since=\(position.query)" }
        while true {
            let answer = try await client.json(client.get("/_changes" + query))
            if answer["results"].array?.isEmpty == false { return }
            try Task.checkCancellation()
        }
    }

    // MARK: Revisions

    package func missing(_ offered: [ChangedDocument]) async throws -> [WantedRevisions] {
        var body = NamedValues<DocumentValue>()
        for document in offered { body[document.id] = .array(document.leaves.map { .string("\($0)") }) }
        let answer = try await client.json(client.post("/_revs_diff", DocumentValue.dictionary(body).json()))
        return try offered.compactMap { document in
            let entry = answer[document.id]
            guard let missing = entry["missing"].array else { return nil }
            return WantedRevisions(
                id: document.id,
                revisions: try missing.map { try RevisionID(validating: $0.string ?? "") },
                // One that has no name here is the ancestor of nothing that is here.
                possibleAncestors: entry["possible_ancestors"].array?.compactMap {
                    $0.string.flatMap(RevisionID.init)
                } ?? [])
        }
    }

    package func read(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions {
        if !lacksBulkGet.withLock({ $0 }) {
            do {
                var failures = ServerFailures()
                var read = try await read(
                    wanted.flatMap { document in document.revisions.map { (document, $0) } }[...], selection,
                    &failures)
                read.problems += try failures.problems()
                return read
            } catch let error as RemoteError where error.meansNoSuchRequest {
                // An older CouchDB, or something else that speaks its API. A database that is gone says so.
                lacksBulkGet.withLock { $0 = true }
            }
        }
        return try await readOneByOne(wanted, selection)
    }

    private func read(
        _ asked: ArraySlice<(WantedRevisions, RevisionID)>, _ selection: ReplicationSelection,
        _ failures: inout ServerFailures, tries: Int = 1
    ) async throws -> ReadRevisions {
        let documents = asked.map { document, revision -> DocumentValue in
            .dictionary(["id": .string(document.id), "rev": .string("\(revision)")])
        }
        var read = ReadRevisions()
        let answer: [UInt8]
        do {
            answer = try await client.bytes(
                client.post(
                    "/_bulk_get?revs=true&attachments=false&att_encoding_info=true",
                    DocumentValue.dictionary(["docs": .array(documents)]).json()))
        } catch let error as RemoteError where error.status == 413 || error.isServerFailure {
            // Too many for the server, or its answer too long for us; or it fails at one of them.
            guard asked.count > 1 else {
                if error.isServerFailure, tries < ServerFailures.tries {
                    return try await self.read(asked, selection, &failures, tries: tries + 1)
                }
                for problem in asked.map({ ReplicationProblem($0.id, $1, error) }) {
                    if error.isServerFailure {
                        try failures.add(problem)
                    } else {
                        read.problems.append(problem)
                    }
                }
                return read
            }
            let middle = asked.startIndex + asked.count / 2
            read = try await self.read(asked[..<middle], selection, &failures)
            read += try await self.read(asked[middle...], selection, &failures)
            return read
        }
        failures.hasAnswered = true
        guard let results = JSONParts.member("results", of: answer[...]).flatMap(JSONParts.elements),
            results.count == asked.count
        else { throw client.malformed("it returned another number of documents than were requested") }
        for ((document, revision), result) in zip(asked, results) {
            let entries = JSONParts.member("docs", of: result).flatMap(JSONParts.elements) ?? []
            for entry in entries { try add(entry, document, revision, selection, to: &read) }
            if entries.isEmpty { read.addMissing(revision, of: document, absence) }
        }
        return read
    }

    /// Why a revision is not carried that the server passes over.
    var absence: RemoteError {
        RemoteError(status: 404, "not_found", "The server did not give this revision.", client.label)
    }

    /// Takes what `_bulk_get` and `open_revs` say of a revision.
    func add(
        _ entry: ArraySlice<UInt8>, _ document: WantedRevisions, _ revision: RevisionID,
        _ selection: ReplicationSelection, to read: inout ReadRevisions
    ) throws {
        guard let text = JSONParts.member("ok", of: entry) else {
            let failure = JSONParts.member("error", of: entry).flatMap { try? FleeceDocument(json: $0).root }
            guard let failure, failure["error"].string != "not_found" else {
                return read.addMissing(revision, of: document, absence)
            }
            return read.addFailed(
                revision, of: document, RemoteError(failure, status: 200, database: client.label))
        }
        do {
            let text = Array(text)
            guard try admits(text, document.id, revision, selection) else { return }
            read.carried.append(carry(text, document, revision))
        } catch {
            guard error.isOfOneDocument else { throw error }
            read.problems.append(ReplicationProblem(document.id, revision, error))
        }
    }

    private func admits(
        _ text: [UInt8], _ id: String, _ revision: RevisionID, _ selection: ReplicationSelection
    ) throws -> Bool {
        guard selection.filter != nil else { return true }
        return try selection.admits(IncomingDocument(json: text).document(id: id, revision: revision))
    }

    private func carry(
        _ text: [UInt8], _ document: WantedRevisions, _ revision: RevisionID
    ) -> CarriedRevision {
        CarriedRevision(
            id: document.id, revision: revision,
            knownGeneration: document.possibleAncestors.map(\.generation).max() ?? 0, content: .json(text)
        ) { [client] name in
            let path = RemoteClient.path(document.id) + "/" + PercentEncoding.encode(name)
            return try await client.stream(client.get("\(path)?rev=\(revision)"))
        }
    }

    // MARK: Checkpoints

    package func checkpoint(_ id: String) async throws -> Checkpoint? {
        guard let answer = try await client.jsonIfFound(client.get("/_local/\(id)")) else {
            revisions.withLock { $0[id] = nil }
            return nil
        }
        revisions.withLock { $0[id] = answer["_rev"].string }
        return try? FleeceDecoder().decode(Checkpoint.self, from: answer)
    }

    package func save(_ checkpoint: Checkpoint, as id: String) async throws {
        let encoded = try FleeceDocument(validating: FleeceEncoder().encode(checkpoint)).root.json()
        guard case .dictionary(var body) = try DocumentValue(json: encoded) else { return }
        for attempt in 0..<2 {
            body["_rev"] = revisions.withLock { $0[id] }.map { DocumentValue.string($0) }
            do {
                let answer = try await client.json(
                    client.put("/_local/\(id)", DocumentValue.dictionary(body).json()))
                revisions.withLock { $0[id] = answer["rev"].string }
                return
            } catch let error as RemoteError where error.status == 409 && attempt == 0 {
                // An earlier save arrived although its answer did not.
                _ = try await self.checkpoint(id)
            }
        }
    }
}

extension RemoteError {
    /// Whether the server does not know the request. A server without the database gives another reason.
    fileprivate var meansNoSuchRequest: Bool {
        status == 405 || status == 501 || (status == 404 && isOfOneDocument)
    }
}

extension SourcePosition {
    /// As a value of `since`: strings bare, everything else as JSON.
    fileprivate var query: String {
        let text = (try? FleeceDocument(json: "[\(json)]"))?.root[0].string ?? json
        return PercentEncoding.encode(text)
    }
}

// MARK: - Document by document

extension RemotePeer {
    /// How many documents are requested at a time.
    private static let atATime = 8
    /// How many revisions are requested in one URL, which servers and proxies take up to some thousand bytes of.
    private static let mostRevisions = 50

    /// Reads revisions document by document, from a server without `_bulk_get`.
    func readOneByOne(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions {
        let failures = SharedServerFailures()
        var read = try await concurrently(wanted, limit: Self.atATime) {
            try await self.read($0, selection, failures)
        }.reduce(into: ReadRevisions()) { $0 += $1 }
        read.problems += try failures.problems()
        return read
    }

    private func read(
        _ document: WantedRevisions, _ selection: ReplicationSelection, _ failures: SharedServerFailures,
        atATime most: Int = mostRevisions
    ) async throws -> ReadRevisions {
        var read = ReadRevisions()
        var rest = document.revisions[...]
        while !rest.isEmpty {
            let asked = rest.prefix(most)
            rest = rest.dropFirst(asked.count)
            do {
                let found =
                    asked.count > 1
                    ? try await entries(document.id, Array(asked))
                    : try await failures.run(document.id, asked[asked.startIndex]) {
                        try await entries(document.id, Array(asked))
                    }
                guard let entries = found else { continue }
                for revision in asked {
                    if let entry = entries.first(where: { $0.revision == revision })?.entry {
                        try add(entry, document, revision, selection, to: &read)
                    } else {
                        read.addMissing(revision, of: document, absence)
                    }
                }
            } catch let error as RemoteError where error.isServerFailure && asked.count > 1 {
                // It may fail at one of them.
                let alone = WantedRevisions(
                    id: document.id, revisions: Array(asked), possibleAncestors: document.possibleAncestors)
                read += try await self.read(alone, selection, failures, atATime: 1)
            } catch {
                guard error.isOfOneDocument else { throw error }
                for revision in asked { read.addFailed(revision, of: document, error) }
            }
        }
        return read
    }

    /// The revisions of a document that the server returns. It may omit some and use another order.
    private func entries(
        _ id: String, _ asked: [RevisionID]
    ) async throws -> [(revision: RevisionID, entry: ArraySlice<UInt8>)] {
        let list = try DocumentValue.array(asked.map { .string("\($0)") }).json()
        let query = "?revs=true&att_encoding_info=true&open_revs=" + PercentEncoding.encode(list)
        // Else CouchDB answers in parts, with the content of attachments.
        let request = client.get(RemoteClient.path(id) + query, accept: "application/json")
        guard let answers = JSONParts.elements(of: try await client.bytes(request)[...]) else {
            throw client.malformed("it answered no list of revisions")
        }
        return answers.compactMap { entry in
            guard let document = JSONParts.member("ok", of: entry),
                let name = JSONParts.member("_rev", of: document),
                let text = (try? FleeceDocument(json: name))?.root.string, let revision = RevisionID(text),
                asked.contains(revision)
            else { return nil }
            return (revision, entry)
        }
    }
}
