import Roost

/// A ``ChannelFeed`` as rows of `_changes`.
struct SeenChanges: Sendable {
    private let served: ServedDatabase
    private let watch: ChannelWatch
    private let query: ChangesQuery
    private let user: UserContext
    private let tokens: ChannelTokens
    private var feed: ChannelFeed
    /// The place after the last thing that the user saw happen, told or left out by the filter.
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

    /// The place up to which everything was told, which stays the same whatever happens unseen.
    var lastToken: String { tokens.text(last) }

    /// Whether nothing followed when it was looked last.
    var isAtEnd: Bool { feed.isAtEnd }

    /// The channels that the user had when it was looked last.
    var channels: Set<String> { feed.channels }

    /// Has `wake` called with each change in these channels.
    func listen(_ wake: @escaping @Sendable () -> Void) -> ObservationToken {
        watch.listen(to: channels, wake)
    }

    /// What happened next, and what the user sees of that moment.
    struct Page: Sendable {
        let rows: [ChannelFeed.Row]
        let sight: Sight
    }

    mutating func page(_ snapshot: CollectionSnapshot, limit: Int) throws -> Page {
        let (rows, sight) = try feed.page(snapshot, limit: limit)
        if let row = rows.last { last = row.token }
        return Page(rows: rows, sight: sight)
    }

    /// The rows of a page that belong to the feed, with the places after them.
    func told(_ page: Page) throws -> [(json: JSON, token: String)] {
        let chosen = try query.filter.readsDocuments ? self.chosen(page) : nil
        return try page.rows.compactMap { row in
            guard query.filter.lets(row.id), let members = try members(row, page.sight, chosen)
            else { return nil }
            let token = tokens.text(row.token)
            return (.object([("seq", .string(token)), ("id", .string(row.id))] + members), token)
        }
    }

    /// The revisions that the filter lets pass, by document; it is asked about none that the user does not see.
    private func chosen(_ page: Page) throws -> NamedValues<[RevisionID]> {
        let (snapshot, sight) = (page.sight.snapshot, page.sight)
        var documents = NamedValues<[Document]>()
        for case .changed(let document) in page.rows.map(\.event) where documents[document.id] == nil {
            documents[document.id] =
                query.allLeaves
                ? try sight.leaves(document.id) : [document]
        }
        let asked = documents.values.flatMap(\.self)
        let verdicts = try query.filter.chosen(of: asked, at: snapshot)
        return zip(asked, verdicts).filter(\.1).reduce(into: NamedValues()) { chosen, pair in
            if chosen[pair.0.id] == nil { chosen[pair.0.id] = [] }
            chosen[pair.0.id]?.append(pair.0.revision)
        }
    }

    /// - Parameter chosen: What the filter lets pass; `nil` for one that looks at no documents.
    private func members(
        _ row: ChannelFeed.Row, _ sight: Sight, _ chosen: NamedValues<[RevisionID]>?
    ) throws -> [(String, JSON)]? {
        var revisions: [RevisionID] = []
        var members: [(String, JSON)] = []
        switch row.event {
        case .changed(let document):
            revisions = try chosen.map { $0[row.id] ?? [] } ?? leaves(document, sight)
            if revisions.isEmpty || query.activeOnly && document.isDeleted { return nil }
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

    /// The revisions of a document that are told, the winner first.
    private func leaves(_ document: Document, _ sight: Sight) throws -> [RevisionID] {
        guard query.allLeaves else { return [document.revision] }
        return try [document.revision]
            + sight.leafRevisions(document.id).filter { $0 != document.revision }
    }
}
