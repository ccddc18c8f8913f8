import Roost

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

    /// The next rows, and what the user sees of that moment.
    mutating func page(_ snapshot: CollectionSnapshot, limit: Int) throws -> (rows: [Row], sight: Sight) {
        let access = try access(snapshot)
        let sight = Sight(access: access, snapshot: snapshot)
        return (try rows(sight, access, limit), sight)
    }

    private mutating func access(_ snapshot: CollectionSnapshot) throws -> ChannelAccess {
        let time = try AccessClock.time(snapshot)
        if let known, known.time == time { return known.access }
        let access = try ChannelAccess(user) { try snapshot.annotation($0) }
        known = (access, time)
        return access
    }

    private mutating func rows(_ sight: Sight, _ access: ChannelAccess, _ limit: Int) throws -> [Row] {
        // Nothing was told yet, or of what is not here any more.
        if token.sequence == 0 || token.sequence > sight.snapshot.lastSequence {
            token = ChannelToken(time: access.time)
        }
        isAtEnd = false
        if token.time != access.time {
            let rows = try catchUp(sight, access, limit)
            if token.time != access.time || rows.count >= limit { return rows }
            return try rows + news(sight, access, limit - rows.count)
        }
        return try news(sight, access, limit)
    }

    // MARK: Gained and lost channels

    private mutating func catchUp(_ sight: Sight, _ access: ChannelAccess, _ limit: Int) throws -> [Row] {
        if token.target != access.time {
            token.target = access.time
            token.place = 0
        }
        // All that came or went since: also of what was gained and lost, or lost and gained, something may have been told before or
        // have left meanwhile.
        let lost = access.channels(changedSince: token.time)
        // Also what was lost and gained again: a round that was not ended may have told of the loss.
        let gained = access.channels.filter { !access.isHeld($0, since: token.time) }
        let (groups, isLast) = try Self.groups(gained.union(lost), after: token.place, limit, sight.snapshot)
        var rows: [Row] = []
        for group in groups {
            token.place = group.sequence
            let (told, since) = (token, token.sequence)
            // What came later is told with the news.
            let hasCome = group.sequence <= since && group.entries.contains { gained.contains($0.channel) }
            let gone = group.entries.filter { channel, entry in
                lost.contains(channel) && (entry.place.left == nil || group.sequence > since)
                    && entry.place.stays.periods.contains { access.held(channel, within: $0) }
            }
            if let winner = try sight.winningRevision(group.id) {
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

    private mutating func news(_ sight: Sight, _ access: ChannelAccess, _ limit: Int) throws -> [Row] {
        let recent = try watch.entries(
            of: access.channels, after: token.sequence, in: sight.snapshot, limit: limit)
        let (groups, isLast) =
            try recent.map { Self.groups($0, limit) }
            ?? Self.groups(access.channels, after: token.sequence, limit, sight.snapshot)
        var rows: [Row] = []
        for group in groups {
            token.sequence = group.sequence
            if let winner = try sight.winningRevision(group.id) {
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

    /// Goes back to the place after a row of the last page, which was not told any further.
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
