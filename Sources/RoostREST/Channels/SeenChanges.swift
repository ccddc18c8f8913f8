import Roost

/// A ``ChannelFeed`` as rows of `_changes`.
struct SeenChanges: Sendable {
    private let served: ServedDatabase
    private let watch: ChannelWatch
    private let query: ChangesQuery
    private let user: UserContext
    private let tokens: ChannelTokens
    private var feed: ChannelFeed
    /// The place after the last row that was told, so that it stays the same whatever happens unseen.
    private(set) var lastToken: String

    init(_ target: DatabaseContext, _ query: ChangesQuery, _ snapshot: CollectionSnapshot) throws {
        guard let routing = target.context.router.channelRouting else { throw LimitedRoutes.refusal }
        served = target.served
        watch = try target.context.router.channelWatches.watch(served, routing, since: snapshot)
        self.query = query
        user = target.user
        let owner = user.name.map { "user \($0)" } ?? "nobody"
        tokens = ChannelTokens(
            secret: target.context.router.databases.sessionSecret,
            scope: "\(served.name.text) \(snapshot.epoch) \(owner)")
        let start =
            query.token == "now" ? try ChannelFeed.end(user, snapshot) : tokens.token(query.token)
        feed = ChannelFeed(user, since: start, watch)
        lastToken = tokens.text(start)
    }

    /// Whether nothing followed when it was looked last.
    var isAtEnd: Bool { feed.isAtEnd }

    /// Grows with what was looked at.
    var looked: UInt64 { feed.looked }

    /// The channels that the user had when it was looked last.
    var channels: Set<String> { feed.channels }

    /// Has `wake` called with each change in these channels, until what is returned is called.
    func listen(_ wake: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        watch.listen(to: channels, wake)
    }

    /// The next rows with the places after them.
    mutating func page(_ snapshot: CollectionSnapshot, limit: Int) throws -> [(json: JSON, token: String)] {
        let (rows, sight) = try feed.page(snapshot, limit: limit)
        var told: [(JSON, String)] = []
        for row in rows {
            if case .documents(let ids) = query.filter, !ids.contains(row.id) { continue }
            guard let members = try members(row, sight) else { continue }
            lastToken = tokens.text(row.token)
            told.append(
                (.object([("seq", .string(lastToken)), ("id", .string(row.id))] + members), lastToken))
        }
        return told
    }

    private func members(_ row: ChannelFeed.Row, _ sight: Sight) throws -> [(String, JSON)]? {
        var revisions: [RevisionID] = []
        var members: [(String, JSON)] = []
        switch row.event {
        case .changed(let document):
            if query.activeOnly, document.isDeleted { return nil }
            revisions = [document.revision]
            if query.allLeaves {
                revisions += try sight.snapshot.leaves(of: row.id).map(\.id).filter {
                    try $0 != document.revision && sight.sees(row.id, $0)
                }
            }
            if document.isDeleted { members.append(("deleted", true)) }
            if query.includesDocuments {
                let text = try query.text.bytes(document, in: sight.snapshot, of: served)
                members.append(("doc", .text(text)))
            }
        case .removed(let revision):
            if query.activeOnly { return nil }
            revisions = [revision]
            members = [("deleted", true), ("removed", .strings(row.channels))]
            if query.includesDocuments {
                let removed = RemovedDocument(id: row.id, revision: revision)
                members.append(("doc", .text(try removed.text(in: sight.snapshot))))
            }
        case .revoked:
            // Which revision it is at now is not for the user any more.
            if query.activeOnly { return nil }
            members = [("removed", .strings(row.channels)), ("revoked", true)]
        }
        let changes = revisions.map { ["rev": .string($0.description)] as JSON }
        return [("changes", .array(changes))] + members
    }
}
