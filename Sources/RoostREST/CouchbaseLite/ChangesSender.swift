import Fleece
import Roost
import RoostBLIP
import RoostSync

/// Sends a Couchbase Lite client what it subscribed to with `subChanges`: lists of changes, and the revisions of them that it wants.
///
/// Between pages it keeps only its place. What is sent ahead of the client's answers is bounded in number and bytes.
actor ChangesSender {
    /// A line of a list of changes.
    private struct Row: Sendable {
        /// The flags of the protocol.
        static let (deleted, revoked, removed) = (1, 2, 4)

        let id: String
        /// `nil` where the client is not to know it.
        let revision: RevisionID?
        let flags: Int
        let sequence: JSON

        var json: JSON {
            // Clients look at the form only.
            let name = revision.map(TreeNames.text) ?? "1-00000000000000000000000000000000"
            var members: [JSON] = [sequence, .string(id), .string(name)]
            if flags != 0 { members.append(.number(flags)) }
            return .array(members)
        }
    }

    /// A message that is ready to be sent, and what it holds.
    private struct Prepared: Sendable {
        let row: Row
        let message: BLIPMessage
        /// Whether the revision is in it, and not that it is not there any more.
        let isRevision: Bool
        let digests: Set<ByteKey>
        let reserved: Int
    }

    /// How many revisions, and how many bytes of them, may be unanswered.
    private static let mostUnanswered = 50
    private static let mostUnansweredBytes = 2 << 20
    /// How many revisions, and about how many bytes of them, are read at once.
    private static let mostPrepared = 25
    private static let mostPreparedBytes = 256 << 10
    /// How many changes are looked at before other work gets a turn.
    private static let pageSize = 1_000
    private static let mostRows = 200
    /// The longest name that a document may have in Couchbase Lite, in bytes.
    private static let longestID = 240
    private static let channelFilter = "sync_gateway/bychannel"
    /// How many revisions of a history are sent where the client does not say.
    private static let usualHistory = 50
    /// What a byte of a stored document takes as JSON, in a message and in its frames.
    private static let bytesPerByte = 4

    private let collection: SyncedCollection
    private let target: DatabaseContext
    private let blip: BLIPSession
    private let isContinuous: Bool
    private let activeOnly: Bool
    private let tellsRevocations: Bool
    private let rowCount: Int
    private let documents: Set<ByteKey>?
    private let channels: Set<String>?

    private let alarm = ChangeAlarm()
    private var access: ObservationToken?
    private var listening: (channels: Set<String>?, token: ObservationToken)?
    /// The sequence up to which changes were sent or passed over.
    private var place: UInt64 = 0
    /// The end, where it does not wait for more.
    private let last: UInt64
    /// The changes for a user who does not see all of them.
    private var feed: ChannelFeed?
    private let watch: ChannelWatch?
    private let tokens: ChannelTokens
    private var isAtEnd = false

    private var unanswered = 0
    private var unansweredBytes = 0
    private var waiter: CheckedContinuation<Void, Never>?

    /// - Throws: 400 for a subscription that can't be, 501 for a filter that is not here.
    init(
        _ collection: SyncedCollection, _ target: DatabaseContext, _ blip: BLIPSession,
        _ request: BLIPSession.Request
    ) async throws {
        self.collection = collection
        self.target = target
        self.blip = blip
        let properties = request.properties
        isContinuous = properties.flag("continuous")
        activeOnly = properties.flag("activeOnly")
        tellsRevocations = properties.flag("revocations")
        rowCount = min(max(1, properties["batch"].flatMap { Int($0) } ?? Self.mostRows), Self.mostRows)
        channels = try Self.channels(properties, target)
        documents = try await Self.documents(request, target)
        let snapshot = try target.collection.snapshot()
        last = snapshot.lastSequence
        tokens = target.channelTokens(snapshot)
        let since = properties["since"] ?? ""
        if target.isLimited {
            guard let routing = target.context.router.channelRouting else { throw LimitedRoutes.refusal }
            let watch = try target.context.router.channelWatches.watch(
                target.served, routing, since: snapshot)
            feed = ChannelFeed(target.user, since: tokens.token(since), watch)
            self.watch = watch
        } else {
            watch = nil
            place = target.served.sequence(since, last: last)
        }
    }

    private static func channels(
        _ properties: BLIPProperties, _ target: DatabaseContext
    ) throws -> Set<String>? {
        guard let filter = properties["filter"] else { return nil }
        guard filter == channelFilter, target.context.router.channelRouting != nil else {
            throw HTTPFailure.notImplemented("This filter")
        }
        return Set((properties["channels"] ?? "").split(separator: ",").map(String.init))
    }

    private static func documents(
        _ request: BLIPSession.Request, _ target: DatabaseContext
    ) async throws -> Set<ByteKey>? {
        let memory = target.context.memory
        let text = try await memory.collect(
            request.body, limit: target.context.router.options.longestJSON, length: nil)
        guard !text.isEmpty else { return nil }
        try await memory.reserve(JSONCost(text).values * 64)
        let body = try await target.context.parse(text)
        memory.release(text.count)
        guard body.root["docIDs"].exists else { return nil }
        guard let ids = body.root["docIDs"].array else { throw BLIPFailure(400, "docIDs must be an array.") }
        return Set(ids.compactMap { $0.string.map { ByteKey($0) } })
    }

    // MARK: The whole subscription

    /// Sends changes until all are sent or, where the subscription is continuous, the connection ends.
    ///
    /// - Parameter beforeEnd: Called before the client gets the end of a subscription that is not continuous.
    func run(beforeEnd: @Sendable () async -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            var isToldOfEnd = false
            while true {
                try Task.checkCancellation()
                // Asked for first, so that no commit slips in between reading and waiting.
                if isContinuous { try listen() }
                try collection.lease.check()
                let rows = try await renewedWork().run { try await self.page() }
                if !rows.isEmpty { isToldOfEnd = false }
                var wanted = try await offer(rows)[...]
                while !wanted.isEmpty {
                    await waitForRoom()
                    let next = wanted
                    let prepared = try await renewedWork().run { try await self.prepare(next) }
                    wanted = wanted.dropFirst(prepared.count)
                    for message in prepared {
                        unanswered += 1
                        unansweredBytes += message.reserved
                        group.addTask { try await self.deliver(message) }
                    }
                }
                guard isAtEnd else { continue }
                if !isContinuous { await beforeEnd() }
                if !isToldOfEnd {
                    await blip.notify(collection.message("changes", body: Array("[]".utf8)))
                    isToldOfEnd = true
                }
                guard isContinuous else { return }
                guard feed?.channels == listening?.channels else { continue }
                _ = await alarm.wait(until: .now + .seconds(3_600))
            }
        }
    }

    private func renewedWork() -> RequestWork { target.renewed().context.work }

    /// Has the alarm rung with what comes from now on.
    private func listen() throws {
        let alarm = alarm
        alarm.reset()
        access = access ?? collection.lease.whenChanged { alarm.ring() }
        guard let feed, let watch else {
            listening = (nil, try target.collection.onNextChange { alarm.ring() })
            return
        }
        guard listening?.channels != feed.channels else { return }
        listening = (feed.channels, watch.listen(to: feed.channels) { alarm.ring() })
    }

    // MARK: Rows

    private func page() throws -> [Row] {
        let snapshot = try target.collection.snapshot()
        return try feed == nil ? wholePage(snapshot) : seenPage(snapshot)
    }

    private func wholePage(_ snapshot: CollectionSnapshot) throws -> [Row] {
        let cursor = try snapshot.changeCursor(since: place)
        var rows: [Row] = []
        var looked = 0
        isAtEnd = false
        while rows.count < rowCount, looked < Self.pageSize {
            guard let change = try cursor.next(), isContinuous || change.sequence <= last else {
                isAtEnd = true
                break
            }
            looked += 1
            place = change.sequence
            let sequence = JSON.string(target.served.token(change.sequence))
            if let row = try row(change.id, change.revision, change.isDeleted, sequence, snapshot) {
                rows.append(row)
            }
        }
        return rows
    }

    private func seenPage(_ snapshot: CollectionSnapshot) throws -> [Row] {
        guard let found = try feed?.page(snapshot, limit: rowCount) else { return [] }
        isAtEnd = feed?.isAtEnd ?? true
        return try found.rows.compactMap { change in
            let sequence = JSON.string(tokens.text(change.token))
            switch change.event {
            case .changed(let winner):
                return try row(change.id, winner.revision, winner.isDeleted, sequence, snapshot)
            case .removed(let revision):
                guard !activeOnly, isOffered(change.id), concerns(change.channels) else { return nil }
                return Row(id: change.id, revision: revision, flags: Row.removed, sequence: sequence)
            case .revoked:
                guard tellsRevocations, !activeOnly, isOffered(change.id), concerns(change.channels) else {
                    return nil
                }
                return Row(id: change.id, revision: nil, flags: Row.revoked, sequence: sequence)
            }
        }
    }

    /// Whether a document of this ID may be sent at all. Couchbase Lite has no IDs that begin with an underscore.
    private func isOffered(_ id: String) -> Bool {
        id.utf8.count <= Self.longestID && !id.begins(with: "_")
            && documents.map { $0.contains(ByteKey(id)) } ?? true
    }

    /// Whether the subscription is to one of some channels.
    private func concerns(_ names: some Sequence<String>) -> Bool {
        channels.map { $0.contains(SyncDecision.allChannels) || names.contains(where: $0.contains) } ?? true
    }

    private func row(
        _ id: String, _ revision: RevisionID, _ isDeleted: Bool, _ sequence: JSON,
        _ snapshot: CollectionSnapshot
    ) throws -> Row? {
        guard isOffered(id) else { return nil }
        var flags = isDeleted ? Row.deleted : 0
        if let channels, !channels.contains(SyncDecision.allChannels) {
            guard let record = try snapshot.annotation(ChannelKey.document(id)),
                let routed = try RoutedDocument(record: record)
            else { return nil }
            if !concerns(routed.routing.channels) {
                let hasLeft = routed.places.contains {
                    channels.contains($0.key) && $0.value.left == revision
                }
                guard hasLeft else { return nil }
                flags |= Row.removed
            }
        }
        if activeOnly, flags != 0 { return nil }
        return Row(id: id, revision: revision, flags: flags, sequence: sequence)
    }

    // MARK: Revisions

    /// A revision that the client wants.
    private struct Wanted: Sendable {
        let row: Row
        /// What it has of the document already.
        let known: Set<String>
        let longestHistory: Int
    }

    /// Sends a list of changes.
    ///
    /// - Returns: Those that the client wants.
    private func offer(_ rows: [Row]) async throws -> [Wanted] {
        guard !rows.isEmpty else { return [] }
        let message = collection.message("changes", body: JSON.array(rows.map(\.json)).bytes)
        let (reply, isError) = try await blip.reply(to: message, options: .compressed, limit: 1 << 20)
        guard !isError, let answer = try FleeceText.parse(reply.body).root.array else {
            throw HTTPFailure.badRequest("The client does not take the changes.")
        }
        let longest = reply.properties["maxHistory"].flatMap { Int($0) } ?? Self.usualHistory
        return zip(rows, answer).compactMap { row, wanted in
            guard let known = wanted.array else { return nil }
            return Wanted(row: row, known: Set(known.compactMap(\.string)), longestHistory: max(1, longest))
        }
    }

    /// Waits until the client has answered enough.
    private func waitForRoom() async {
        while unanswered >= Self.mostUnanswered || unansweredBytes > Self.mostUnansweredBytes {
            await withCheckedContinuation { waiter = $0 }
        }
    }

    /// Reads the next revisions, as they are seen now.
    private func prepare(_ wanted: ArraySlice<Wanted>) async throws -> [Prepared] {
        let visibility = try target.visibility(of: try target.collection.snapshot())
        var prepared: [Prepared] = []
        var bytes = 0
        for item in wanted.prefix(Self.mostPrepared) {
            guard bytes < Self.mostPreparedBytes else { break }
            prepared.append(try await prepare(item, visibility))
            bytes += prepared.last?.reserved ?? 0
        }
        return prepared
    }

    private func prepare(_ wanted: Wanted, _ visibility: Visibility) async throws -> Prepared {
        let row = wanted.row
        guard let revision = row.revision, row.flags & ~Row.deleted == 0,
            let document = try visibility.document(row.id, revision: revision)
        else {
            let message = collection.message(
                "norev",
                [
                    "id": row.id, "rev": row.revision.map(TreeNames.text) ?? "",
                    "sequence": row.sequence.text,
                    "error": "404", "reason": "missing",
                ])
            return Prepared(row: row, message: message, isRevision: false, digests: [], reserved: 0)
        }
        let reserved = document.fleece.bytes.count * Self.bytesPerByte
        try await target.context.memory.reserve(reserved)
        var properties: BLIPProperties = [
            "id": row.id, "rev": TreeNames.text(revision), "sequence": row.sequence.text,
        ]
        var history: [String] = []
        for ancestor in try visibility.snapshot.history(of: row.id, revision: revision).dropFirst() {
            guard history.count < wanted.longestHistory else { break }
            history.append(TreeNames.text(ancestor))
            if wanted.known.contains(history[history.count - 1]) { break }
        }
        if !history.isEmpty { properties["history"] = history.joined(separator: ",") }
        if document.isDeleted { properties["deleted"] = "1" }
        let references = BlobReferences(document)
        return Prepared(
            row: row,
            message: collection.message("rev", properties, body: document.couchbaseJSON(references)),
            isRevision: true, digests: references.digests, reserved: reserved)
    }

    /// Sends a revision and waits for its answer.
    private func deliver(_ prepared: Prepared) async throws {
        let (id, revision) = (prepared.row.id, prepared.row.revision)
        defer {
            target.context.memory.release(prepared.reserved)
            unanswered -= 1
            unansweredBytes -= prepared.reserved
            waiter.take()?.resume()
        }
        guard prepared.isRevision, let revision else { return await blip.notify(prepared.message) }
        collection.note(id, revision, prepared.digests)
        defer { collection.forget(id, revision) }
        // A client that can't store it reports that to its app, and requests it again in its next sync.
        _ = try await blip.reply(to: prepared.message, options: .compressed)
    }
}
