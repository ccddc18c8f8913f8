import Fleece
import Roost
import RoostBLIP
import RoostBytes
import RoostCrypto
import RoostWire

/// The far side of a replication with a server of Couchbase Lite's protocol, version 3: Sync Gateway, Edge Server, Capella, or a Roost.
///
/// The server knows one revision of each document, so the winner alone goes there, and what is in conflict with the server's revision
/// is refused. It sends revisions in an order of its own, some at a time, and each waits at the server until it is stored here.
///
/// One connection serves one try of a replication, both ways; ``rest()`` ends it.
actor CouchbasePeer: ReplicationPeer {
    /// What a batch of changes that was passed on still needs.
    private enum Pending {
        /// The answer to a list.
        case list(CouchbaseLink.Offer)
        /// Another request for those that are wanted: the list was answered already.
        case lookUp
        case nothing
    }

    /// What was decided about a revision that was proposed.
    enum Proposal {
        /// It may be sent. The server has this revision of those in its history; `nil` for none.
        case accepted(base: String?)
        case refused(RemoteError)
    }

    static let channelFilter = "sync_gateway/bychannel"
    /// How many changes a list has, which is what clients ask for.
    static let listSize = 200

    let server: CouchbaseServer
    let local: DocumentCollection
    private let isContinuous: Bool
    private var opening: Task<CouchbaseLink, any Error>?
    private var pending: [Pending] = []
    /// Whether a subscription was begun that has not reached its end.
    private var isSubscribed = false
    /// The present position in the server's changes.
    private var position: SourcePosition?
    /// Documents of which a revision that was wanted did not come, for once more before a pull ends.
    private var absent: Set<ByteKey> = []
    /// Documents of which the server has a revision that is known here and has not won here. The server may have lost another one
    /// since, which changes nothing here, so they are proposed again.
    private var differing: Set<ByteKey> = []
    /// The revisions of the server's checkpoints that were read or saved.
    private var checkpointRevisions: [String: String] = [:]
    /// What was decided about the revisions that are to be sent.
    var proposals: [CouchbaseLink.Key: Proposal] = [:]
    /// Whether the server takes proposals, or lists of changes in their place.
    var takesProposals = true

    /// - Parameter local: The collection on this side.
    init(_ server: CouchbaseServer, for local: DocumentCollection, isContinuous: Bool) {
        (self.server, self.local, self.isContinuous) = (server, local, isContinuous)
    }

    // MARK: The connection

    /// The collection's path there.
    private var path: String {
        local.scopeName == "_default" ? local.collectionName : "\(local.scopeName).\(local.collectionName)"
    }

    /// The connection of this try, opened when it is first needed.
    func link() async throws -> CouchbaseLink {
        let (server, path, local) = (server, path, local)
        let task = opening ?? Task { try await CouchbaseLink.open(server, path, for: local) }
        opening = task
        let link = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
        if let ending = await link.ending { throw ending }
        return link
    }

    nonisolated var readSize: Int { .max }

    nonisolated var keepsConflicts: Bool { false }

    func rest() async {
        let task = opening
        opening = nil
        (pending, absent, proposals, isSubscribed) = ([], [], [:], false)
        task?.cancel()
        if let link = try? await task?.value { await link.close() }
    }

    nonisolated func identity() -> String { "\(server.label)/\(local)" }

    nonisolated func filterCode(_ selection: ReplicationSelection) throws -> String? {
        _ = try Self.filter(selection)
        return nil
    }

    // MARK: Changes

    /// The properties of a subscription that filters.
    ///
    /// - Throws: `invalidQuery` for filters that the protocol has not.
    private static func filter(_ selection: ReplicationSelection) throws -> BLIPProperties {
        switch selection.serverFilter {
        case nil: return [:]
        case .named(channelFilter, let parameters)?:
            return ["filter": channelFilter, "channels": parameters["channels"] ?? ""]
        default:
            throw DatabaseError(
                .invalidQuery,
                "A server of Couchbase Lite's protocol filters by \(channelFilter) with the parameter channels, and by nothing else."
            )
        }
    }

    func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch {
        let link = try await link()
        if !isSubscribed {
            isSubscribed = true
            self.position = position
            var properties = try Self.filter(selection)
            properties["versioning"] = "rev-trees"
            properties["batch"] = String(min(limit, Self.listSize))
            if let position { properties["since"] = position.json }
            if isContinuous { properties["continuous"] = "true" }
            var body: [UInt8] = []
            if let ids = selection.identities {
                let list = DocumentValue.dictionary(["docIDs": .array(ids.sorted().map { .string($0.text) })])
                body = Array(try list.json().utf8)
            }
            try await link.subscribe(properties, body: body)
        }
        switch try await link.nextList() {
        case .offer(let offer):
            let documents = try await changed(offer.rows).filter { selection.includes($0.id) }
            let end = SourcePosition(json: offer.rows[offer.rows.count - 1].sequence)
            self.position = end
            pending.append(.list(offer))
            return ChangeBatch(documents: documents, position: end, pending: nil, isLast: false)
        case .end:
            let end = self.position ?? SourcePosition(json: "0")
            self.position = end
            isSubscribed = isContinuous
            guard !isContinuous, !absent.isEmpty else {
                pending.append(.nothing)
                return ChangeBatch(documents: [], position: end, pending: 0, isLast: true)
            }
            // In the place of those that were edited meanwhile come the present ones, and none for those that are gone.
            let ids = absent.map(\.text)
            absent = []
            let present = try await leaves(of: ids)
            let found = Set(present.map { ByteKey($0.id) })
            let gone = ids.filter { !found.contains(ByteKey($0)) }.map { ChangedDocument(id: $0, leaves: []) }
            return ChangeBatch(documents: present + gone, position: end, pending: 0, isLast: true)
        }
    }

    /// The documents of a list, by the names that their revisions have here.
    private func changed(_ rows: [CouchbaseLink.Row]) async throws -> [ChangedDocument] {
        let (local, label) = (local, server.label)
        let (documents, others) = try await local.database.perform {
            let snapshot = try local.snapshot()
            var others: [ByteKey] = []
            let documents = try rows.filter { !$0.isRemoved }.map { row in
                guard let revision = try TreeNames(of: row.id, in: snapshot).revision(row.revision) else {
                    let error = RemoteError(
                        status: 200, "bad_revision", "The server's revision has a name that is none.", label)
                    let problem = ReplicationProblem(row.id, unusable: row.revision, error)
                    return ChangedDocument(id: row.id, leaves: [], problems: [problem])
                }
                if let winner = try snapshot.winner(of: row.id)?.revision, winner != revision,
                    try snapshot.missingRevisions(of: row.id, from: [revision]).missing.isEmpty
                {
                    others.append(ByteKey(row.id))
                }
                return ChangedDocument(id: row.id, leaves: [revision])
            }
            return (documents, others)
        }
        differing.formUnion(others)
        return documents
    }

    func leaves(of ids: [String]) async throws -> [ChangedDocument] {
        // A server could take a list without IDs for all documents.
        guard !ids.isEmpty else {
            pending.append(.nothing)
            return []
        }
        let rows = try await link().lookUp(ids, ["versioning": "rev-trees", "batch": String(Self.listSize)])
            .value()
        pending.append(.lookUp)
        return try await changed(rows)
    }

    func untilChanged(after position: SourcePosition?) async throws {
        try await link().waitForChanges()
    }

    func choose(_ wanted: [WantedRevisions]) async throws {
        guard !pending.isEmpty else { return }
        let pending = pending.removeFirst()
        var known: [CouchbaseLink.Key: [String]] = [:]
        for document in wanted {
            for revision in document.revisions {
                known[CouchbaseLink.Key(document.id, TreeNames.text(revision))] =
                    document.possibleAncestors.map(TreeNames.text)
            }
        }
        switch pending {
        case .list(let offer): try await link().answer(offer, wanting: known)
        case .lookUp:
            guard !known.isEmpty else { return }
            try await link().lookUp(
                wanted.map(\.id), ["versioning": "rev-trees", "batch": String(Self.listSize)], wanting: known)
        case .nothing: break
        }
    }

    // MARK: Revisions that come

    func read(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions {
        let link = try await link()
        var left: [CouchbaseLink.Key: (document: WantedRevisions, revision: RevisionID)] = [:]
        for document in wanted {
            for revision in document.revisions {
                left[CouchbaseLink.Key(document.id, TreeNames.text(revision))] = (document, revision)
            }
        }
        var read = ReadRevisions()
        for arrival in try await link.arrivals() {
            let key = CouchbaseLink.Key(arrival.id, arrival.revision)
            guard let (document, revision) = left.removeValue(forKey: key) else {
                arrival.answer.keep(
                    .success(RemoteError(status: 400, "bad_request", "It is not wanted.", server.label)))
                continue
            }
            do {
                if let carried = try await carry(arrival, document, revision, selection, link) {
                    read.carried.append(carried)
                } else {
                    arrival.answer.keep(.success(nil))
                }
            } catch {
                guard error.isOfOneDocument else { throw error }
                if case .failure = arrival.content { absent.insert(ByteKey(document.id)) }
                let problem = ReplicationProblem(document.id, revision, error)
                read.problems.append(problem)
                arrival.answer.keep(.success(RemoteError(problem, server.label)))
            }
        }
        read.remaining = wanted.compactMap { document in
            let revisions = document.revisions.filter {
                left[CouchbaseLink.Key(document.id, TreeNames.text($0))] != nil
            }
            return revisions.isEmpty
                ? nil
                : WantedRevisions(
                    id: document.id, revisions: revisions, possibleAncestors: document.possibleAncestors)
        }
        return read
    }

    /// - Returns: `nil` for a revision that the selection does not admit.
    private func carry(
        _ arrival: CouchbaseLink.Arrival, _ wanted: WantedRevisions, _ revision: RevisionID,
        _ selection: ReplicationSelection, _ link: CouchbaseLink
    ) async throws -> CarriedRevision? {
        let content = try arrival.content.get()
        let (local, server, id) = (local, server, wanted.id)
        let (text, references, digests) = try await local.database.perform {
            let names = try TreeNames(of: id, in: local.snapshot())
            let lineage: [RevisionID]
            do throws(TreeNames.Failure) {
                lineage = try names.lineage(TreeNames.text(revision), content.history)
            } catch {
                throw DatabaseError(
                    .corruptRevisionData, "The server's history of \(revision) is not in order.")
            }
            return try PulledDocument.text(id, [revision] + lineage.dropFirst(), content)
        }
        if selection.filter != nil {
            let document = try IncomingDocument(json: text)
            guard try selection.admits(document.document(id: id, revision: revision)) else { return nil }
        }
        let label = server.label
        var carried = CarriedRevision(
            id: id, revision: revision,
            knownGeneration: wanted.possibleAncestors.map(\.generation).max() ?? 0, content: .json(text)
        ) { name in
            guard let digest = digests[name] else {
                throw RemoteError(status: 404, "not_found", "The attachment \(name) has no digest.", label)
            }
            return try await link.content(digest, of: id)
        }
        carried.blobs = references
        carried.blob = { try await link.content($0, of: id) }
        carried.answer = { problem in
            arrival.answer.keep(.success(problem.map { RemoteError($0, label) }))
        }
        return carried
    }

    func missing(_ offered: [ChangedDocument]) async throws -> [WantedRevisions] {
        var offered = offered
        for document in offered { differing.remove(ByteKey(document.id)) }
        offered += differing.map { ChangedDocument(id: $0.text, leaves: []) }
        differing = []
        return try await propose(offered)
    }

    func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem] {
        try await send(revisions)
    }

    // MARK: Checkpoints

    func checkpoint(_ id: String) async throws -> Checkpoint? {
        do {
            let reply = try await link().ask("getCheckpoint", ["client": "roost-\(id)"])
            checkpointRevisions[id] = reply.properties["rev"]
            guard let body = try? FleeceDocument(json: reply.body).root else { return nil }
            return try? FleeceDecoder().decode(Checkpoint.self, from: body)
        } catch let error as RemoteError where error.status == 404 {
            checkpointRevisions[id] = nil
            return nil
        }
    }

    func save(_ checkpoint: Checkpoint, as id: String) async throws {
        let encoded = try FleeceDocument(validating: FleeceEncoder().encode(checkpoint)).root.jsonBytes()
        for attempt in 0..<2 {
            do {
                let properties: BLIPProperties = [
                    "client": "roost-\(id)", "rev": checkpointRevisions[id] ?? "",
                ]
                let reply = try await link().ask("setCheckpoint", properties, body: encoded)
                checkpointRevisions[id] = reply.properties["rev"]
                return
            } catch let error as RemoteError where error.status == 409 && attempt == 0 {
                // An earlier save arrived although its answer did not.
                _ = try await self.checkpoint(id)
            }
        }
    }
}

extension RemoteError {
    /// The answer to a server whose revision was not stored.
    fileprivate init(_ problem: ReplicationProblem, _ label: String) {
        let cause = problem.cause as? RemoteError
        self.init(
            status: cause.map { (400..<600).contains($0.status) ? $0.status : 400 } ?? 400, "bad_request",
            "The revision was not stored.", label)
    }
}
