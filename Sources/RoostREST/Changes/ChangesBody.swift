import Fleece
import Roost
import RoostWire

/// The changes of a database as a body, in any of the four feeds.
///
/// Reads a page at a time from a snapshot of that moment and keeps only its place in between, so that a client that is slow, or
/// that waits, holds nothing.
actor ChangesBody: BodyStream {
    /// How much is handed out at a time.
    private static let pieceSize = 32 << 10
    /// How many changes are looked at before other work gets a turn; matters where a filter lets few through.
    private static let pageSize = 1000

    /// How many documents, and how many bytes of them, a filter that takes long is asked about at once.
    static let batchSize = 256
    static let batchLength = 4 << 20

    private enum Phase {
        case beginning
        case rows
        case over
    }

    private let served: ServedDatabase
    private let query: ChangesQuery
    private let work: RequestWork
    private let lease: AccessLease
    /// The registration of the alarm for withdrawn access.
    private var access: ObservationToken?
    /// The changes for a user who does not see all of them.
    private var seen: SeenChanges?
    private let clock = ContinuousClock()
    private var phase = Phase.beginning
    /// The sequence up to which changes were sent or skipped; going backwards, the one from which on they were.
    private var place: UInt64
    /// Whether a feed that goes backwards has come to the beginning, where it ends, whatever feed it is.
    private var isAtBeginning = false
    /// The end of a feed that does not wait.
    private let last: UInt64
    private var left: Int
    private var count = 0
    /// Whether nothing followed when it was looked last.
    private var hasReadAll = false
    let alarm = ChangeAlarm()
    /// The registration of the alarm, and its channels.
    private var listening: (channels: Set<String>?, token: ObservationToken)?
    /// Whether all was read until the alarm rings.
    private var isUpToDate = false
    private var lastRow: ContinuousClock.Instant
    private var lastPiece: ContinuousClock.Instant

    init(
        _ served: ServedDatabase, _ query: ChangesQuery, last: UInt64, _ seen: SeenChanges?,
        _ lease: AccessLease, _ work: RequestWork
    ) {
        self.lease = lease
        self.served = served
        self.seen = seen
        self.work = work
        self.query = query
        self.last = last
        place = query.isDescending ? last + 1 : query.since
        left = query.limit
        lastRow = clock.now
        lastPiece = lastRow
    }

    func next() async throws -> [UInt8]? {
        guard let piece = try await nextPiece() else { return nil }
        try lease.check()
        return piece
    }

    private func nextPiece() async throws -> [UInt8]? {
        switch phase {
        case .over: return nil
        case .beginning:
            phase = .rows
            lastRow = clock.now
            let rows = try await nextPage()
            lastPiece = clock.now
            switch query.feed {
            case .normal: return Array("{\"results\":[\n".utf8) + rows + (try endIfDone() ?? [])
            case .longpoll: return Array("{\"results\":[\n".utf8) + rows + (try endIfDone() ?? [])
            case .continuous, .eventSource:
                let bytes = rows + (try endIfDone() ?? [])
                // Something is sent at once, so that the client sees that it is connected.
                return bytes.isEmpty ? (query.feed == .eventSource ? EventStream.heartbeat : [10]) : bytes
            }
        case .rows:
            while phase == .rows {
                try Task.checkCancellation()
                if !isUpToDate {
                    // Asked for first, so that no commit slips in between reading and waiting.
                    try listen()
                    try lease.check()
                    let bytes = try await nextPage() + (try endIfDone() ?? [])
                    // It is not registered for other channels yet.
                    isUpToDate = hasReadAll && seen?.channels == listening?.channels
                    if !bytes.isEmpty {
                        lastPiece = clock.now
                        return bytes
                    }
                    guard isUpToDate, phase == .rows else { continue }
                }
                if let bytes = try await wait() { return bytes }
                isUpToDate = false
            }
            return nil
        }
    }

    // MARK: Waiting

    /// Registers the alarm for what comes from now on.
    private func listen() throws {
        let alarm = alarm
        alarm.reset()
        access = access ?? lease.whenChanged { alarm.ring() }
        guard let seen else {
            listening = (nil, try served.collection.onNextChange { alarm.ring() })
            return
        }
        guard listening?.channels != seen.channels else { return }
        listening = (seen.channels, seen.listen { alarm.ring() })
    }

    /// Waits for a change, for as long as nothing else is due; what is due then is answered.
    private func wait() async throws -> [UInt8]? {
        let deadline = query.timing.deadline(after: query.timing.heartbeat == nil ? lastRow : lastPiece)
        if await alarm.wait(until: deadline) { return nil }
        try Task.checkCancellation()
        if query.timing.heartbeat != nil {
            lastPiece = clock.now
            return query.feed == .eventSource ? EventStream.heartbeat : [10]
        }
        return try ending()
    }

    /// The feed's end, where it has come.
    private func endIfDone() throws -> [UInt8]? {
        guard !query.isDescending else { return left == 0 || isAtBeginning ? try ending() : nil }
        let isDone =
            switch query.feed {
            case .normal: left == 0 || seen?.isAtEnd ?? (place >= last)
            case .longpoll: count > 0 || left == 0
            case .continuous, .eventSource: left == 0
            }
        return isDone ? try ending() : nil
    }

    /// What is sent at the end, if anything is.
    private func ending() throws -> [UInt8]? {
        phase = .over
        // Each event names its sequence, and one that is no change would be taken for one.
        guard query.feed != .eventSource else { return nil }
        let token = seen?.lastToken ?? served.token(query.isDescending ? last : place)
        var end = "\"last_seq\":\"\(token)\""
        if case nil = seen {
            let pending = query.isDescending ? 0 : try served.collection.snapshot().changeCount(since: place)
            end += ",\"pending\":\(pending)"
        }
        switch query.feed {
        case .normal, .longpoll: return Array("\n],\n\(end)}\n".utf8)
        case .continuous, .eventSource: return Array("{\(end)}\n".utf8)
        }
    }

    // MARK: Rows

    /// The rows of the changes that come next. Of what has just happened they are few, and there may be thousands of feeds; all else
    /// may take long.
    private func nextPage() async throws -> [UInt8] {
        guard !hasReadAll || query.allLeaves || query.includesDocuments || query.filter.readsDocuments else {
            return try page()
        }
        return try await work.run { try await self.page() }
    }

    /// The rows of the changes that come next.
    private func page() throws -> [UInt8] {
        let snapshot = try served.collection.snapshot()
        if seen != nil { return try seenPage(snapshot) }
        return try page(snapshot, query.filter.takesMany ? try choose(snapshot) : nil)
    }

    private func seenPage(_ snapshot: CollectionSnapshot) throws -> [UInt8] {
        let rows = try seen?.rows(snapshot, limit: min(left, Self.batchSize), length: Self.pieceSize) ?? []
        hasReadAll = seen?.isAtEnd ?? true
        var bytes: [UInt8] = []
        for row in rows { append(row.json, row.token, to: &bytes) }
        return bytes
    }

    /// - Parameter chosen: The sequences of the changes that were asked about beforehand, and their revisions that belong to the
    ///   feed; `nil` where each is decided on when its turn comes.
    private func page(_ snapshot: CollectionSnapshot, _ chosen: [UInt64: [RevisionID]]?) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let isNormal = query.feed == .normal
        var looked = 0
        let cursor = try Self.cursor(snapshot, query, place)
        hasReadAll = false
        while left > 0, bytes.count < Self.pieceSize, looked < Self.pageSize {
            guard let change = try cursor.next() else {
                hasReadAll = true
                isAtBeginning = query.isDescending
                if !query.isDescending { place = max(place, isNormal ? last : snapshot.lastSequence) }
                break
            }
            if isNormal, !query.isDescending, change.sequence > last {
                place = last
                break
            }
            let choice = chosen?[change.sequence]
            if chosen != nil, choice == nil { break }
            looked += 1
            place = change.sequence
            if query.activeOnly, change.isDeleted { continue }
            let revisions =
                if let choice { choice } else { try Self.revisions(change, query, cursor, snapshot) }
            guard !revisions.isEmpty else { continue }
            append(try row(change, revisions, cursor, snapshot), served.token(change.sequence), to: &bytes)
        }
        return bytes
    }

    /// The changes that come next.
    private static func cursor(
        _ snapshot: CollectionSnapshot, _ query: ChangesQuery, _ place: UInt64
    ) throws -> ChangeCursor {
        query.isDescending
            ? try snapshot.changeCursor(before: place) : try snapshot.changeCursor(since: place)
    }

    /// Calls the filter for the changes that come next.
    private func choose(_ snapshot: CollectionSnapshot) throws -> [UInt64: [RevisionID]] {
        let cursor = try Self.cursor(snapshot, query, place)
        var chosen: [UInt64: [RevisionID]] = [:]
        var asked: [(sequence: UInt64, document: Document)] = []
        var (count, length) = (0, 0)
        while count < Self.batchSize, length < Self.batchLength, let change = try cursor.next() {
            chosen[change.sequence] = []
            if query.allLeaves, change.hasSeveralLeaves {
                let revisions = try Self.leaves(change, query.filter, snapshot)
                chosen[change.sequence] = revisions
                count += Self.batchSize / 16
                continue
            }
            let document = try cursor.document(of: change)
            asked.append((change.sequence, document))
            count += 1
            length += document.fleece.bytes.count
        }
        let verdicts = try query.filter.chosen(of: asked.map(\.document), at: snapshot)
        for ((sequence, document), isChosen) in zip(asked, verdicts) where isChosen {
            chosen[sequence, default: []].append(document.revision)
        }
        return chosen
    }

    /// The leaves of a change that belong to the feed, of which some at a time are in memory.
    private static func leaves(
        _ change: DocumentChange, _ filter: ChangeFilter, _ snapshot: CollectionSnapshot
    ) throws -> [RevisionID] {
        guard let document = try snapshot.documentRevisions(change.id) else { return [] }
        var (chosen, asked): ([RevisionID], [Document]) = ([], [])
        var length = 0
        let leaves = document.leaves
        for (index, leaf) in leaves.enumerated() {
            if let found = try document.document(leaf) {
                asked.append(found)
                length += found.fleece.bytes.count
            }
            guard asked.count == batchSize || length >= batchLength || index == leaves.count - 1 else {
                continue
            }
            chosen += zip(asked, try filter.chosen(of: asked, at: snapshot)).filter(\.1).map(\.0.revision)
            (asked, length) = ([], 0)
        }
        return chosen
    }

    /// The revisions of a change that belong to the feed, the winner first; none where it doesn't.
    private static func revisions(
        _ change: DocumentChange, _ query: ChangesQuery, _ cursor: ChangeCursor,
        _ snapshot: CollectionSnapshot
    ) throws -> [RevisionID] {
        if query.filter.readsDocuments {
            if query.allLeaves, change.hasSeveralLeaves {
                return try leaves(change, query.filter, snapshot)
            }
            let document = try cursor.document(of: change)
            return try query.filter.chosen(of: [document], at: snapshot)[0] ? [document.revision] : []
        }
        guard query.filter.lets(change.id) else { return [] }
        guard query.allLeaves, change.hasSeveralLeaves else { return [change.revision] }
        return try snapshot.leaves(of: change.id).map(\.id)
    }

    private func append(_ row: JSON, _ token: String, to bytes: inout [UInt8]) {
        switch query.feed {
        case .normal, .longpoll:
            if count > 0 { bytes += ",\n".utf8 }
            row.write(to: &bytes)
        case .continuous:
            row.write(to: &bytes)
            bytes.append(10)
        case .eventSource: bytes += EventStream.event(row.bytes, id: token)
        }
        count += 1
        left -= 1
        lastRow = clock.now
    }

    private func row(
        _ change: DocumentChange, _ revisions: [RevisionID], _ cursor: ChangeCursor,
        _ snapshot: CollectionSnapshot
    ) throws -> JSON {
        let tellsSequence = count % query.sequenceInterval == 0
        var members: [(String, JSON)] = [
            ("seq", tellsSequence ? .string(served.token(change.sequence)) : .null),
            ("id", .string(change.id)),
            ("changes", .array(revisions.map { ["rev": .string($0.description)] })),
        ]
        if change.isDeleted { members.append(("deleted", true)) }
        if query.includesDocuments {
            let document = try cursor.document(of: change)
            members.append(("doc", .text(try query.text.bytes(document, in: snapshot, of: served))))
        }
        return .object(members)
    }
}
