import Roost
import RoostBytes
import RoostCrypto

/// The changes that a user sees, a page at a time: those of their channels, what came with a channel that they gained, and what went
/// with one that they lost. A page costs what the channels hold, not what the database does.
struct ChannelFeed: Sendable {
    /// What happened to a document, as the user sees it.
    enum Event: Sendable {
        /// It is there, or is a tombstone. Its body is not read.
        case changed(Winner)
        /// It left the user's channels by this revision.
        case removed(RevisionID)
        /// The user lost the channels that it is in.
        case revoked
    }

    /// The winning revision of a document.
    typealias Winner = (revision: RevisionID, isDeleted: Bool)

    struct Row: Sendable {
        let id: String
        let event: Event
        /// The channels that it left.
        let channels: [String]
        /// The place after it.
        let token: ChannelToken
    }

    private let user: UserContext
    private let watch: ChannelWatch
    /// What the user had when it was looked last, and when that was on the ``AccessClock``.
    private var known: (access: ChannelAccess, time: UInt64)?
    /// The place that was come to.
    private var token: ChannelToken
    /// Whether nothing followed when it was looked last.
    private(set) var isAtEnd = false

    init(_ user: UserContext, since token: ChannelToken, _ watch: ChannelWatch) {
        self.user = user
        self.watch = watch
        self.token = token
    }

    /// The channels that the user had when it was looked last.
    var channels: Set<String> { known?.access.channels ?? [] }

    /// The place after everything that the user sees, which stays the same whatever happens unseen.
    static func end(_ user: UserContext, _ snapshot: CollectionSnapshot) throws -> ChannelToken {
        let access = try ChannelAccess(user) { try snapshot.annotation($0) }
        let sequences = try access.channels.compactMap { channel in
            try ChannelEntry(record: snapshot.lastAnnotation(under: ChannelKey.channel(channel)))?.sequence
        }
        return ChannelToken(sequence: sequences.max() ?? 0, time: access.time)
    }

    /// The next rows, and what the user sees of the snapshot.
    mutating func page(_ snapshot: CollectionSnapshot, limit: Int) throws -> (
        rows: [Row], visibility: Visibility
    ) {
        let access = try access(snapshot)
        let visibility = Visibility(access: access, snapshot: snapshot)
        return (try rows(visibility, access, limit), visibility)
    }

    private mutating func access(_ snapshot: CollectionSnapshot) throws -> ChannelAccess {
        let time = try AccessClock.time(snapshot)
        if let known, known.time == time { return known.access }
        let access = try ChannelAccess(user) { try snapshot.annotation($0) }
        known = (access, time)
        return access
    }

    private mutating func rows(_ visibility: Visibility, _ access: ChannelAccess, _ limit: Int) throws
        -> [Row]
    {
        // Nothing was sent yet, or of a history that is gone.
        if token.sequence == 0 || token.sequence > visibility.snapshot.lastSequence {
            token = ChannelToken(time: access.time)
        }
        isAtEnd = false
        if token.time != access.time {
            let rows = try catchUp(visibility, access, limit)
            if token.time != access.time || rows.count >= limit { return rows }
            return try rows + news(visibility, access, limit - rows.count)
        }
        return try news(visibility, access, limit)
    }

    // MARK: Gained and lost channels

    private mutating func catchUp(_ visibility: Visibility, _ access: ChannelAccess, _ limit: Int) throws
        -> [Row]
    {
        if token.target != access.time {
            token.target = access.time
            token.place = 0
        }
        // All that came or went since: also of what was gained and lost, or lost and gained, something may have been told before or
        // have left meanwhile.
        let lost = access.channels(changedSince: token.time)
        // Also what was lost and gained again: a round that was not ended may have told of the loss.
        let gained = access.channels.filter { !access.isHeld($0, since: token.time) }
        let (groups, isLast) = try Self.groups(
            gained.union(lost), after: token.place, limit, visibility.snapshot)
        var rows: [Row] = []
        for group in groups {
            token.place = group.sequence
            let (told, since) = (token, token.sequence)
            // What came later is sent with the news.
            let hasCome = group.sequence <= since && group.entries.contains { gained.contains($0.channel) }
            let gone = group.entries.filter { channel, entry in
                lost.contains(channel) && (entry.place.left == nil || group.sequence > since)
                    && entry.place.stays.periods.contains { access.held(channel, within: $0) }
            }
            if let winner = try visibility.winningRevision(group.id) {
                guard hasCome else { continue }
                rows.append(Row(id: group.id, event: .changed(winner), channels: [], token: told))
            } else if !gone.isEmpty {
                rows.append(
                    Row(id: group.id, event: .revoked, channels: gone.map(\.channel).sorted(), token: told))
            }
        }
        if isLast {
            token.time = access.time
            token.target = 0
            token.place = 0
        }
        return rows
    }

    // MARK: News

    private mutating func news(_ visibility: Visibility, _ access: ChannelAccess, _ limit: Int) throws
        -> [Row]
    {
        let recent = try watch.entries(
            of: access.channels, after: token.sequence, in: visibility.snapshot, limit: limit)
        let (groups, isLast) =
            try recent.map { Self.groups($0, limit) }
            ?? Self.groups(access.channels, after: token.sequence, limit, visibility.snapshot)
        var rows: [Row] = []
        for group in groups {
            token.sequence = group.sequence
            if let winner = try visibility.winningRevision(group.id) {
                rows.append(Row(id: group.id, event: .changed(winner), channels: [], token: token))
                continue
            }
            // Who had not the channel when it left did not see it there.
            let held = access.channels(atSequence: group.sequence - 1)
            let left = group.entries.filter { $0.entry.place.left != nil && held.contains($0.channel) }
            if let revision = left.first?.entry.place.left {
                rows.append(
                    Row(
                        id: group.id, event: .removed(revision), channels: left.map(\.channel).sorted(),
                        token: token))
            }
        }
        isAtEnd = isLast
        return rows
    }

    /// Goes back to the place after a row of the last page, where the reader stopped.
    mutating func goBack(to row: Row) {
        token = row.token
        isAtEnd = false
    }

    // MARK: Entries

    /// The entries of one document in several channels.
    private struct Group {
        let id: String
        let sequence: UInt64
        var entries: [(channel: String, entry: ChannelEntry)]
    }

    /// The most entries that are read ahead of all channels together, and the fewest of each.
    private static let mostAhead = 10_000
    private static let leastAhead = 2

    /// The next entries of some channels, in the order of their sequences, and whether there are no more.
    ///
    /// Of each channel a few are read, fewer where there are many channels; of all of them those count that come up to the place where
    /// the reading of a channel ended.
    private static func groups(
        _ channels: Set<String>, after sequence: UInt64, _ limit: Int, _ snapshot: CollectionSnapshot
    ) throws -> (groups: [Group], isLast: Bool) {
        let count = max(leastAhead, min(limit, mostAhead / max(1, channels.count)))
        var found: [(channel: String, entry: ChannelEntry)] = []
        var end = UInt64.max
        for channel in channels {
            let records = try snapshot.annotations(
                under: ChannelKey.channel(channel), after: ChannelKey.sequence(sequence), limit: count)
            let entries = try records.compactMap { try ChannelEntry(record: $0) }
            found += entries.map { (channel, $0) }
            if records.count == count, let last = entries.last { end = min(end, last.sequence) }
        }
        let (groups, isLast) = groups(found.filter { $0.entry.sequence <= end }, limit)
        return (groups, isLast && end == .max)
    }

    private static func groups(
        _ found: [(channel: String, entry: ChannelEntry)], _ limit: Int
    ) -> (groups: [Group], isLast: Bool) {
        var groups: [UInt64: Group] = [:]
        for (channel, entry) in found {
            groups[entry.sequence, default: Group(id: entry.id, sequence: entry.sequence, entries: [])]
                .entries.append((channel, entry))
        }
        let sorted = groups.values.sorted { $0.sequence < $1.sequence }
        return (Array(sorted.prefix(limit)), sorted.count < limit)
    }
}

/// A place among the changes that a user sees.
struct ChannelToken: Equatable, Sendable {
    /// Changes up to this sequence were sent, of the channels that the user had at ``time``.
    var sequence: UInt64 = 0
    /// On the ``AccessClock``.
    var time: UInt64 = 0
    /// The time up to which gained and lost channels are being sent; 0 for none.
    var target: UInt64 = 0
    /// The sequence up to which they were.
    var place: UInt64 = 0
}

/// Writes places as texts that reveal nothing: not how many changes lie between two, nor whether there were any. The same place
/// is the same text for a user.
struct ChannelTokens: Sendable {
    private let key: SymmetricKey

    /// - Parameter scope: What the tokens are good for: the database's history and the user.
    init(secret: [UInt8], scope: String) {
        key = SymmetricKey(Self.code(Array("channel tokens:\(scope)".utf8), SymmetricKey(secret)))
    }

    func text(_ token: ChannelToken) -> String {
        let plain = [token.sequence, token.time, token.target, token.place].flatMap(ChannelKey.sequence)
        let seed = Array(Self.code([0] + plain, key).prefix(16))
        return RandomText.text(seed + masked(plain, seed))
    }

    /// The place that a text stands for; the beginning for a text that is not this user's, or of another history.
    func token(_ text: String) -> ChannelToken {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "\"") }.compactMap { Self.value($0) }
        guard digits.count == 96 else { return ChannelToken() }
        let bytes = (0..<48).map { digits[2 * $0] << 4 | digits[2 * $0 + 1] }
        let plain = masked(Array(bytes[16...]), Array(bytes[..<16]))
        guard constantTimeEqual(Array(Self.code([0] + plain, key).prefix(16)), Array(bytes[..<16])) else {
            return ChannelToken()
        }
        let numbers = (0..<4).map { place in
            plain[(8 * place)..<(8 * place + 8)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        return ChannelToken(
            sequence: numbers[0], time: numbers[1], target: numbers[2], place: numbers[3])
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private func masked(_ bytes: [UInt8], _ seed: [UInt8]) -> [UInt8] {
        zip(bytes, Self.code([1] + seed, key)).map { $0 ^ $1 }
    }

    private static func code(_ bytes: [UInt8], _ key: SymmetricKey) -> [UInt8] {
        HMAC<SHA256>.authenticate(bytes, key: key).bytes
    }
}

/// A ``ChannelFeed`` as rows of `_changes`.
struct SeenChanges: Sendable {
    private let served: ServedDatabase
    private let watch: ChannelWatch
    private let query: ChangesQuery
    private let user: UserContext
    private let tokens: ChannelTokens
    private var feed: ChannelFeed
    /// The place after the last change that the user sees, sent or excluded by the filter.
    private var last: ChannelToken

    init(_ target: DatabaseContext, _ query: ChangesQuery, _ snapshot: CollectionSnapshot) throws {
        guard let routing = target.context.router.channelRouting else { throw LimitedRoutes.refusal }
        served = target.served
        watch = try target.context.router.channelWatches.watch(served, routing, since: snapshot)
        self.query = query
        user = target.user
        tokens = target.channelTokens(snapshot)
        let start =
            query.token == "now" ? try ChannelFeed.end(user, snapshot) : tokens.token(query.token)
        feed = ChannelFeed(user, since: start, watch)
        last = start
    }

    /// The place up to which everything was sent, which stays the same whatever happens unseen.
    var lastToken: String { tokens.text(last) }

    /// Whether nothing followed when it was looked last.
    var isAtEnd: Bool { feed.isAtEnd }

    /// The channels that the user had when it was looked last.
    var channels: Set<String> { feed.channels }

    /// Has `wake` called with each change in these channels.
    func listen(_ wake: @escaping @Sendable () -> Void) -> ObservationToken {
        watch.listen(to: channels, wake)
    }

    /// The rows that come next, with the places after them, as far as their text is about `length` bytes long.
    mutating func rows(
        _ snapshot: CollectionSnapshot, limit: Int, length: Int
    ) throws -> [(json: JSON, token: String)] {
        let (rows, visibility) = try feed.page(snapshot, limit: limit)
        let chosen = try query.filter.readsDocuments ? self.chosen(rows, visibility) : nil
        var told: [(json: JSON, token: String)] = []
        var count = 0
        for row in rows {
            last = row.token
            guard query.filter.lets(row.id), let members = try members(row, visibility, chosen) else {
                continue
            }
            let token = tokens.text(row.token)
            told.append((.object([("seq", .string(token)), ("id", .string(row.id))] + members), token))
            // Only documents, which come last, are long.
            if case .text(let document)? = members.last?.1 { count += document.count }
            if count >= length, row.token != rows.last?.token {
                feed.goBack(to: row)
                break
            }
        }
        return told
    }

    /// The revisions that the filter lets pass, by document; it is asked about none that the user does not see.
    private func chosen(_ rows: [ChannelFeed.Row], _ visibility: Visibility) throws -> NamedValues<
        [RevisionID]
    > {
        var chosen = NamedValues<[RevisionID]>()
        var asked: [Document] = []
        func ask() throws {
            for (document, isChosen) in zip(
                asked, try query.filter.chosen(of: asked, at: visibility.snapshot))
            {
                if chosen[document.id] == nil { chosen[document.id] = [] }
                if isChosen { chosen[document.id]?.append(document.revision) }
            }
            asked = []
        }
        var length = 0
        func add(_ document: Document) throws {
            asked.append(document)
            length += document.fleece.bytes.count
            guard asked.count >= ChangesBody.batchSize || length >= ChangesBody.batchLength else { return }
            length = 0
            try ask()
        }
        for row in rows {
            guard case .changed = row.event else { continue }
            if query.allLeaves {
                let document = try SeenDocument(row.id, visibility)
                for leaf in document.leaves { try document.document(leaf).map(add) }
            } else {
                try visibility.winner(row.id).map(add)
            }
        }
        try ask()
        return chosen
    }

    /// - Parameter chosen: What the filter lets pass; `nil` for one that looks at no documents.
    private func members(
        _ row: ChannelFeed.Row, _ visibility: Visibility, _ chosen: NamedValues<[RevisionID]>?
    ) throws -> [(String, JSON)]? {
        let snapshot = visibility.snapshot
        var revisions: [RevisionID] = []
        var members: [(String, JSON)] = []
        switch row.event {
        case .changed(let winner):
            revisions = try chosen.map { $0[row.id] ?? [] } ?? leaves(row.id, winner.revision, visibility)
            if revisions.isEmpty || query.activeOnly && winner.isDeleted { return nil }
            if winner.isDeleted { members.append(("deleted", true)) }
            if query.includesDocuments, let document = try visibility.winner(row.id) {
                members.append(("doc", .text(try query.text.bytes(document, in: snapshot, of: served))))
            }
        case .removed(let revision):
            if query.activeOnly { return nil }
            revisions = [revision]
            members = [("deleted", true), ("removed", .strings(row.channels))]
            if query.includesDocuments {
                let removed = RemovedDocument(
                    id: row.id, revision: revision,
                    history: try snapshot.history(of: row.id, revision: revision))
                members.append(("doc", .text(removed.text)))
            }
        case .revoked:
            // Which revision it is at now is not for the user any more.
            if query.activeOnly { return nil }
            members = [("removed", .strings(row.channels)), ("revoked", true)]
        }
        let changes = revisions.map { ["rev": .string($0.description)] as JSON }
        return [("changes", .array(changes))] + members
    }

    /// The revisions of a document that are sent, the winner first.
    private func leaves(_ id: String, _ winner: RevisionID, _ visibility: Visibility) throws -> [RevisionID] {
        guard query.allLeaves else { return [winner] }
        return try [winner] + SeenDocument(id, visibility).leaves.filter { $0 != winner }
    }
}
