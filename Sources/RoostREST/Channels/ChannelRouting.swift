import Roost
import RoostWire
import Synchronization

/// Asks the sync function about what was written without it: what was there before it or is of another version of it, what the program
/// saved, what replications brought. What was purged without the router gives nothing any more.
///
/// It goes through the changes in the background, a few at a time, each part in one commit with the place that it came to, so that it
/// goes on there after a crash. Where another version has decided, it goes through them twice: first all are taken out of the channels,
/// and all grants withdrawn, that the new version doesn't give as well; only then they get what it gives. So at no time a user sees more
/// than by one of the two. A document is asked about as one that an administrator makes; one that is refused is for administrators only.
/// Tombstones of another version's keep their channels, so that all who had the document learn of it, and give nothing.
///
/// It is begun by requests and by those who watch for changes, and holds no database while there is nothing to do.
final class ChannelRouting: Sendable {
    /// What is done in one database.
    struct Work: Sendable {
        /// When it was begun and when it came here, in microseconds since 1970.
        let start: UInt64
        let now: UInt64
        var position: RoutingPosition
        var end: UInt64
    }

    private struct State {
        /// Where all was routed when it was looked last, with the collection's epoch.
        var reached: (epoch: UInt64, position: RoutingPosition)?
        var work: Work?
        var task: Task<Void, Never>?
        /// Whether there may be more than the work under way has seen.
        var isWanted = false
    }

    private let states = Mutex<[String: State]>([:])
    private let sync: SyncFunction

    /// Changes that are looked at in one part.
    private static let pageSize = 100
    /// The number of changes after which the place is saved also where nothing had to be done.
    private static let longestUnkept: UInt64 = 10_000

    init(_ sync: SyncFunction) { self.sync = sync }

    /// What is under way, by the databases' names.
    var underWay: [(database: String, work: Work)] {
        states.withLock { $0.compactMap { name, state in state.work.map { (name, $0) } } }
            .sorted { $0.0 < $1.0 }
    }

    /// Begins to route what is not, where there is something.
    func begin(_ served: ServedDatabase) throws {
        guard !served.name.isSystem else { return }
        let snapshot = try served.collection.snapshot()
        states.withLock { states in
            var state = states[served.name.text] ?? State()
            if let reached = state.reached, reached.epoch == snapshot.epoch,
                reached.position.sequence == snapshot.lastSequence,
                reached.position.purges == snapshot.purgeSequence
            {
                return
            }
            state.isWanted = true
            if state.task == nil { state.task = Task { await self.run(served) } }
            states[served.name.text] = state
        }
    }

    /// Returns when nothing is under way in a database.
    func finish(_ name: DatabaseName) async {
        while let task = states.withLock({ $0[name.text]?.task }) { await task.value }
    }

    private func run(_ served: ServedDatabase) async {
        while states.withLock({ goesOn(served, &$0) }) {
            do {
                try await served.database.perform { try self.route(served) }
            } catch {
                // The next request tries again.
                return states.withLock { $0[served.name.text] = nil }
            }
        }
    }

    private func goesOn(_ served: ServedDatabase, _ states: inout [String: State]) -> Bool {
        guard states[served.name.text]?.isWanted == true else {
            states[served.name.text]?.task = nil
            states[served.name.text]?.work = nil
            return false
        }
        states[served.name.text]?.isWanted = false
        return true
    }

    // MARK: Routing

    private func route(_ served: ServedDatabase) throws {
        let collection = served.collection
        var snapshot = try collection.snapshot()
        let stored = try RoutingPosition(record: snapshot.annotation(ChannelKey.position))
        var position = stored ?? RoutingPosition(version: sync.version, isNarrowed: true)
        if position.version != sync.version {
            position = RoutingPosition(version: sync.version, purges: position.purges)
        }
        var kept = position == stored ? position.sequence : 0
        if stored == nil {
            try served.database.write { batch in
                try ChannelLedger(batch: batch, collection: collection).begin(position)
            }
        } else if position != stored {
            try keep(position, in: served)
        }
        // What was looked at since without anything to keep.
        if let reached = states.withLock({ $0[served.name.text]?.reached }), reached.epoch == snapshot.epoch,
            reached.position.version == position.version, position.isNarrowed,
            reached.position.sequence > position.sequence
        {
            position = reached.position
        }
        let start = served.database.now
        while true {
            note(
                served,
                Work(
                    start: start, now: served.database.now, position: position, end: snapshot.lastSequence))
            position = try withdrawPurged(served, snapshot, position)
            let cursor = try snapshot.changeCursor(since: position.sequence)
            var page: [DocumentChange] = []
            while page.count < Self.pageSize, let change = try cursor.next() { page.append(change) }
            guard let last = page.last else {
                if position.isNarrowed { break }
                // Now all documents can have what the function decides.
                position.isNarrowed = true
                position.sequence = 0
                position.refused = 0
                kept = 0
                try keep(position, in: served)
                continue
            }
            var decisions: [(id: String, leaves: [RevisionID], decided: [RevisionID: Routing])] = []
            for change in page where !change.id.begins(with: "_design/") {
                let decision = try decide(served, snapshot, change, isNarrowing: !position.isNarrowed)
                if let decision { decisions.append(decision) }
            }
            position.sequence = last.sequence
            position.refused += decisions.count { $0.decided.values.contains { $0.isRefused == true } }
            if !decisions.isEmpty || position.sequence - kept >= Self.longestUnkept {
                try keep(position, in: served) { batch in
                    let held = HeldRecords(batch, collection)
                    let ledger = ChannelLedger(batch: batch, collection: collection, held: held)
                    for (id, leaves, decided) in decisions
                    where try batch.leaves(of: id, in: collection).map(\.id) == leaves {
                        try ledger.settle(id, anew: decided)
                    }
                    try held.write()
                }
                kept = position.sequence
            }
            snapshot = try collection.snapshot()
        }
        position.sequence = snapshot.lastSequence
        if position.version != stored?.version, position.sequence > kept {
            try keep(position, in: served)
        }
        states.withLock { $0[served.name.text]?.reached = (snapshot.epoch, position) }
    }

    /// Keeps the place that was come to, in one commit with what `change` does.
    private func keep(
        _ position: RoutingPosition, in served: ServedDatabase,
        with change: (WriteTransaction) throws -> Void = { _ in }
    ) throws {
        let collection = served.collection
        try served.database.write { batch in
            try change(batch)
            try batch.annotate(ChannelKey.position, with: position.record, in: collection)
        }
    }

    private func note(_ served: ServedDatabase, _ work: Work) {
        states.withLock { $0[served.name.text]?.work = work }
    }

    /// What becomes of a document's leaves that this version of the function has not decided on; `nil` where it has on all of them.
    private func decide(
        _ served: ServedDatabase, _ snapshot: CollectionSnapshot, _ change: DocumentChange, isNarrowing: Bool
    ) throws -> (id: String, leaves: [RevisionID], decided: [RevisionID: Routing])? {
        let id = change.id
        let record = try RoutedDocument(record: snapshot.annotation(ChannelKey.document(id)))
        let only = change.hasSeveralLeaves ? nil : change.revision
        // So it is with what was written by requests.
        if let only, record?.winner == only, isDone(record?.leaves[only], isNarrowing) { return nil }
        let leaves = try snapshot.leaves(of: id)
        guard let winner = leaves.first else { return nil }
        var decided: [RevisionID: Routing] = [:]
        for leaf in leaves {
            let old = record?.leaves[leaf.id]
            if leaf.isDeleted {
                guard let old, old.version != sync.version else { continue }
                decided[leaf.id] = Routing(channels: old.channels, version: sync.version)
                continue
            }
            // Undecided documents need no narrowing: administrators alone see them.
            if isDone(old, isNarrowing) || isNarrowing && old == nil { continue }
            guard let document = try snapshot.document(id, revision: leaf.id) else { continue }
            let routing = routing(of: document, at: snapshot, in: served)
            decided[leaf.id] = isNarrowing ? routing.narrowed(to: old) : routing
        }
        // A tombstone of the program's may have come to win.
        let isOld = record.map { $0.winner != winner.id } ?? false
        return decided.isEmpty && !isOld ? nil : (id, leaves.map(\.id), decided)
    }

    /// Whether this version of the function has decided so, as far as the present pass goes.
    private func isDone(_ routing: Routing?, _ isNarrowing: Bool) -> Bool {
        routing?.version == sync.version && (isNarrowing || routing?.isNarrowed != true)
    }

    private func routing(
        of document: Document, at snapshot: CollectionSnapshot, in served: ServedDatabase
    ) -> Routing {
        do {
            let question = SyncQuestion(
                document: ExaminedDocument(
                    id: document.id, isDeleted: false, properties: document.properties),
                old: nil, text: { try snapshot.jsonBytes(document, with: SyncQuestion.metadata) },
                oldText: { nil }, database: served.name.text, collection: served.collection,
                security: try served.securityText())
            var decision = SyncDecision(user: .admin, isAdmin: true, channels: [], roles: [])
            try sync.decide(question, &decision)
            return try decision.routing(sync.version)
        } catch {
            return Routing(version: sync.version, isRefused: true)
        }
    }

    // MARK: Lists

    /// Returns when the channels' documents are listed by their IDs, which takes long only after an earlier build has routed them.
    func completeLists(_ served: ServedDatabase) async throws {
        let collection = served.collection
        var isDone = try collection.snapshot().annotation(ChannelKey.hasLists) != nil
        var selection = DocumentSelection()
        while !isDone {
            let keys = try await served.database.perform { [selection] in
                try collection.snapshot().annotationKeys(
                    under: ChannelKey.document(""), in: selection, limit: Self.pageSize)
            }
            let ids = keys.map { String(decoding: $0, as: UTF8.self) }
            let areLast = ids.count < Self.pageSize
            try await served.database.write { batch in
                try ChannelLedger(batch: batch, collection: collection).list(ids, areLast: areLast)
            }
            selection.from = ids.last.map { $0 + "\u{0}" }
            isDone = areLast
        }
    }

    // MARK: Purges

    /// Withdraws what documents gave that were purged since, by the program or because they expired.
    private func withdrawPurged(
        _ served: ServedDatabase, _ snapshot: CollectionSnapshot, _ position: RoutingPosition
    ) throws -> RoutingPosition {
        guard position.purges != snapshot.purgeSequence else { return position }
        let purged = try snapshot.purges(since: position.purges)
        let ids = try purged.map { $0.map(\.id) } ?? missing(snapshot)
        var position = position
        position.purges = snapshot.purgeSequence
        try keep(position, in: served) { batch in
            let held = HeldRecords(batch, served.collection)
            let ledger = ChannelLedger(batch: batch, collection: served.collection, held: held)
            for id in Set(ids.map { ByteKey($0) }) { try ledger.settlePurge(id.text) }
            try held.write()
        }
        return position
    }

    /// The documents that stood somewhere and are not there any more: where more was purged than is remembered.
    private func missing(_ snapshot: CollectionSnapshot) throws -> [String] {
        var ids: [String] = []
        var last: UInt64 = 0
        while true {
            let records = try snapshot.annotations(
                under: ChannelKey.channel(SyncDecision.allChannels), after: ChannelKey.sequence(last),
                limit: 1_000)
            for record in records {
                guard let entry = try ChannelEntry(record: record) else { continue }
                last = entry.sequence
                if try snapshot.document(entry.id, includingDeleted: true) == nil { ids.append(entry.id) }
            }
            if records.isEmpty { return ids }
        }
    }
}
