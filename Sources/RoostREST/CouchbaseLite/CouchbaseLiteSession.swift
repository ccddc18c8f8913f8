import Fleece
import Roost
import RoostBLIP
import RoostSync
import RoostWire

/// A failure that is answered in another domain than HTTP's.
struct BLIPFailure: Error {
    let domain: String
    let code: Int
    let reason: String

    init(_ code: Int, _ reason: String) { (domain, self.code, self.reason) = ("BLIP", code, reason) }
}

/// The server's side of a connection of Couchbase Lite's replicator.
///
/// The client is active: it reads its checkpoints, proposes and sends its revisions (``PushedRevision``), and subscribes to changes
/// (``ChangesSender``). All it does passes the same gates as CouchDB's API: accounts, security objects, channels, validations and the
/// sync function.
actor CouchbaseLiteSession {
    /// The largest BLIP frame; senders make none above 16 KiB.
    static let longestFrame = 64 << 10
    /// The most collections that one connection syncs.
    private static let mostCollections = 1_000
    /// The largest checkpoint, and the longest name of one, in bytes.
    private static let longestCheckpoint = 1 << 20
    private static let longestName = 250

    private enum Mode {
        /// The first message decides.
        case undecided
        /// No message names a collection.
        case single(SyncedCollection)
        /// By index; `nil` for one that the client does not get.
        case several([SyncedCollection?])
    }

    private let target: DatabaseContext
    private let blip: BLIPSession
    private var mode = Mode.undecided
    /// The subscriptions that are not at their end, by the collections' indexes.
    private var pulls: [Int: (sender: ChangesSender, task: Task<Void, Never>)] = [:]
    /// What has the access checked when it may have been withdrawn.
    private var watches: [ObservationToken] = []

    init(_ target: DatabaseContext, _ socket: any WebSocketConnection) {
        self.target = target
        var limits = BLIPSession.Limits()
        limits.connection.frame = Self.longestFrame
        limits.connection.piece = 256 << 10
        blip = BLIPSession(socket, limits: limits, memory: target.context.memory)
    }

    /// Serves the connection.
    func run() async -> WebSocketClose {
        let close = await blip.run { await self.answer($0) }
        for pull in pulls.values { pull.task.cancel() }
        watches = []
        return close
    }

    // MARK: Answering

    private func answer(_ request: BLIPSession.Request) async -> BLIPSession.Answer {
        do {
            return try await respond(to: request)
        } catch let failure as BLIPFailure {
            return .failure(BLIPMessage(errorIn: failure.domain, code: failure.code, failure.reason))
        } catch {
            let failure = HTTPFailure(error)
            // 401 would end the client's whole replication.
            let code = failure.status == 401 ? 403 : failure.status
            return .failure(BLIPMessage(errorIn: "HTTP", code: code, failure.reason))
        }
    }

    private func respond(to request: BLIPSession.Request) async throws -> BLIPSession.Answer {
        switch request.profile {
        case "getCollections": return try await getCollections(request)
        case "PING": return .done
        default: break
        }
        let collection = try await collection(of: request)
        try check(collection)
        let target = collection.target.renewed()
        switch request.profile {
        case "getCheckpoint": return try getCheckpoint(request, target)
        case "setCheckpoint": return try await setCheckpoint(request, target)
        case "subChanges": return try await subscribe(request, collection, target)
        case "unsubChanges":
            pulls.removeValue(forKey: collection.index ?? 0)?.task.cancel()
            return .done
        case "changes": throw BLIPFailure(409, "Propose the changes.")
        case "proposeChanges":
            return try await target.context.work.run {
                try await Proposals(target: target).answer(request)
            }
        case "rev":
            let blip = blip
            return try await target.context.work.run {
                try await PushedRevision(collection: collection, target: target, blip: blip).save(request)
                return .done
            }
        case "norev": return .done
        case "getAttachment": return try Self.attachment(request, collection)
        default: throw BLIPFailure(404, "No handler for BLIP request")
        }
    }

    /// - Throws: What has ended the client's access, which ends the connection.
    private func check(_ collection: SyncedCollection) throws {
        do {
            try collection.lease.check()
        } catch {
            blip.close(WebSocketClose(1008, "Access was withdrawn."))
            throw error
        }
    }

    /// Looks, after a change, whether the client may still be here.
    private func checkAll() {
        switch mode {
        case .undecided: break
        case .single(let collection): try? check(collection)
        case .several(let collections): for collection in collections { try? collection.map(check) }
        }
    }

    private func watch(_ collection: SyncedCollection) {
        watches.append(collection.lease.whenChanged { [weak self] in Task { await self?.checkAll() } })
    }

    // MARK: Collections

    private func collection(of request: BLIPSession.Request) async throws -> SyncedCollection {
        switch (mode, request.properties["collection"]) {
        case (.undecided, nil):
            var target = target.renewed()
            try await target.limit(["_blipsync"])
            // Another message may have come first.
            guard case .undecided = mode else { return try await collection(of: request) }
            let collection = SyncedCollection(target, index: nil)
            mode = .single(collection)
            watch(collection)
            return collection
        case (.single(let collection), nil): return collection
        case (.several(let collections), let text?):
            guard let index = Int(text), collections.indices.contains(index), let found = collections[index]
            else { throw BLIPFailure(400, "There is no collection of this index.") }
            return found
        case (.several, nil), (.undecided, .some), (.single, .some):
            throw BLIPFailure(400, "inappropriate use of the collection property.")
        }
    }

    private func getCollections(_ request: BLIPSession.Request) async throws -> BLIPSession.Answer {
        guard case .undecided = mode else {
            throw BLIPFailure(400, "getCollections must be the first message.")
        }
        mode = .several([])
        let context = target.renewed().context
        let body = try await context.parse(
            try await context.memory.collect(request.body, limit: 1 << 20, length: nil)
        ).root
        guard let clients = body["checkpoint_ids"].array, let paths = body["collections"].array,
            clients.count == paths.count, paths.count <= Self.mostCollections
        else { throw BLIPFailure(400, "getCollections needs a checkpoint ID for each collection.") }
        var found: [SyncedCollection?] = []
        var answers: [JSON] = []
        for (index, (client, path)) in zip(clients, paths).enumerated() {
            let synced = try await open(path.string ?? "", index: index)
            found.append(synced)
            guard let synced else {
                answers.append(.null)
                continue
            }
            watch(synced)
            var members: [UInt8] = Array("{}".utf8)
            if let (revision, checkpoint) = try Self.checkpoint(client.string ?? "", synced.target) {
                members = checkpoint
                members.removeLast()
                if members.count > 1 { members.append(UInt8(ascii: ",")) }
                members += "\"rev\":\"\(revision)\"}".utf8
            }
            answers.append(.text(members))
        }
        mode = .several(found)
        return .message(BLIPMessage(body: JSON.array(answers).bytes), .compressed)
    }

    /// The collection of a path, `_default` or `scope.name`; `nil` where there is none that the client may use.
    private func open(_ path: String, index: Int) async throws -> SyncedCollection? {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let last = parts.last, !last.isEmpty else { return nil }
        let scope = parts.count == 2 ? parts[0] : "_default"
        do {
            let context = target.renewed().context
            let name = try DatabaseName(DatabaseName.text(target.served.name.base, scope, last))
            let served = try Routes.open(name, context)
            try context.router.channelRouting?.begin(served)
            var opened = DatabaseContext(context: context, served: served, security: try served.security())
            try opened.security.requireMember(opened.user)
            try await opened.limit(["_blipsync"])
            return SyncedCollection(opened, index: index)
        } catch let failure as HTTPFailure where [400, 401, 403, 404].contains(failure.status) {
            return nil
        }
    }

    // MARK: Checkpoints

    /// The name of the local document that a client's checkpoint is; `nil` for a user without a name, for whom none is kept.
    private static func checkpointName(_ client: String, _ target: DatabaseContext) throws -> String? {
        guard !client.isEmpty, client.utf8.count <= longestName else {
            throw BLIPFailure(400, "A checkpoint needs a name of at most \(longestName) bytes.")
        }
        if target.isLimited, target.user.name == nil { return nil }
        return try target.localName("couchbase/\(client)")
    }

    private static func checkpoint(
        _ client: String, _ target: DatabaseContext
    ) throws -> (revision: String, json: [UInt8])? {
        guard let name = try checkpointName(client, target),
            let document = try target.collection.localDocument(name)
        else { return nil }
        return ("\(document.revision)-cc", Array(document.json().utf8))
    }

    private func getCheckpoint(
        _ request: BLIPSession.Request, _ target: DatabaseContext
    ) throws -> BLIPSession.Answer {
        guard let (revision, json) = try Self.checkpoint(request.properties["client"] ?? "", target) else {
            throw HTTPFailure.missing
        }
        return .message(BLIPMessage(["rev": revision], body: json))
    }

    private func setCheckpoint(
        _ request: BLIPSession.Request, _ target: DatabaseContext
    ) async throws -> BLIPSession.Answer {
        let body = try await target.context.memory.collect(
            request.body, limit: Self.longestCheckpoint, length: nil)
        let document = try await target.context.parse(body)
        guard document.root.kind == .dictionary else {
            throw BLIPFailure(400, "A checkpoint must be a JSON object.")
        }
        let base = request.properties["rev"] ?? ""
        guard let expected = base.isEmpty ? 0 : UInt64(base.prefix { $0 != "-" }) else {
            throw HTTPFailure.conflict
        }
        guard let name = try Self.checkpointName(request.properties["client"] ?? "", target) else {
            return .message(BLIPMessage(["rev": "\(expected + 1)-cc"]))
        }
        let (collection, json) = (target.collection, document.root.json())
        let revision = try await target.served.database.write(for: target.context.work.owner) { batch in
            try batch.saveLocalDocument(json: json, name: name, in: collection, expecting: expected).revision
        }
        return .message(BLIPMessage(["rev": "\(revision)-cc"]))
    }

    // MARK: Changes and blobs

    private func subscribe(
        _ request: BLIPSession.Request, _ collection: SyncedCollection, _ target: DatabaseContext
    ) async throws -> BLIPSession.Answer {
        let place = collection.index ?? 0
        let sender = try await ChangesSender(collection, target, blip, request)
        guard pulls[place] == nil else { throw BLIPFailure(400, "The changes are being sent already.") }
        let task = Task { [blip] in
            do {
                // A client that gets the end may subscribe again.
                try await sender.run { await self.end(sender, place) }
            } catch is CancellationError {
            } catch let close as WebSocketClose {
                blip.close(close)
            } catch {
                let failure = HTTPFailure(error)
                blip.close(WebSocketClose(failure.status == 503 ? 1013 : 1008, failure.error))
            }
            end(sender, place)
        }
        pulls[place] = (sender, task)
        return .done
    }

    private func end(_ sender: ChangesSender, _ place: Int) {
        if pulls[place]?.sender === sender { pulls[place] = nil }
    }

    private static func attachment(
        _ request: BLIPSession.Request, _ collection: SyncedCollection
    ) throws -> BLIPSession.Answer {
        let database = collection.target.served.database
        guard let digest = request.properties["digest"], BlobReferences.isDigest(digest),
            try collection.shows(digest, of: request.properties["docID"]),
            let reader = try database.blobReader(digest)
        else { throw HTTPFailure.noAttachment }
        let attachment = try Attachment(digest: digest, length: reader.length, contentType: nil)
        return .stream(
            BLIPMessage(), BlobBody(database, attachment),
            request.properties.flag("compress") ? .compressed : [])
    }
}

/// `_blipsync`: the WebSocket over which Couchbase Lite's replicator syncs with a database and its collections.
enum BLIPSyncRoutes {
    /// What is spoken, the best first. In version 2, `getAttachment` names no document.
    private static let protocols = ["BLIP_3+CBMobile_3", "BLIP_3+CBMobile_2"]

    static func respond(_ target: DatabaseContext) throws -> HTTPResponse {
        let context = target.context
        try context.allow("GET")
        guard !target.served.name.isSystem, target.served.name.collection == nil else {
            throw HTTPFailure.forbidden("Couchbase Lite syncs with a database, not with this.")
        }
        guard WebSocketHandshake.isRequested(by: context.request) else {
            throw HTTPFailure(
                426, "upgrade_required", "This is for WebSockets.", headers: ["Upgrade": "websocket"])
        }
        var response = try WebSocketHandshake.accept(context.request, protocols: protocols).response
        let target = target.renewed()
        response.upgrade = WebSocketUpgrade(longestMessage: CouchbaseLiteSession.longestFrame) { socket in
            await CouchbaseLiteSession(target, socket).run()
        }
        return response
    }
}

extension DatabaseContext {
    /// The same database and user for another piece of work, with time and memory of its own.
    func renewed() -> DatabaseContext {
        var copy = self
        copy.context = context.renewed()
        return copy
    }
}

extension RequestContext {
    /// The context of a message that came over the WebSocket of this request.
    fileprivate func renewed() -> RequestContext {
        var request = request
        // The WebSocket alone reads from the client.
        request.client = nil
        return RequestContext(
            router: router, request: request, method: method, path: path, query: query, user: user,
            work: RequestWork(router, request, user, path),
            memory: RequestMemory(router.memory, router.uploads, user, peer: request.peer))
    }
}

extension RequestMemory: BLIPMemory {}
