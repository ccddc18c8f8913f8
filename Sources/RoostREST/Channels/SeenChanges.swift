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

    /// The rows that come next, with the places after them, as far as their text is about `length` bytes long.
    mutating func rows(
        _ snapshot: CollectionSnapshot, limit: Int, length: Int
    ) throws -> [(json: JSON, token: String)] {
        let (rows, sight) = try feed.page(snapshot, limit: limit)
        let chosen = try query.filter.readsDocuments ? self.chosen(rows, sight) : nil
        var told: [(json: JSON, token: String)] = []
        var count = 0
        for row in rows {
            last = row.token
            guard query.filter.lets(row.id), let members = try members(row, sight, chosen) else { continue }
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
    private func chosen(_ rows: [ChannelFeed.Row], _ sight: Sight) throws -> NamedValues<[RevisionID]> {
        var chosen = NamedValues<[RevisionID]>()
        var asked: [Document] = []
        func ask() throws {
            for (document, isChosen) in zip(asked, try query.filter.chosen(of: asked, at: sight.snapshot)) {
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
                let document = try SeenDocument(row.id, sight)
                for leaf in document.leaves { try document.document(leaf).map(add) }
            } else {
                try sight.winner(row.id).map(add)
            }
        }
        try ask()
        return chosen
    }

    /// - Parameter chosen: What the filter lets pass; `nil` for one that looks at no documents.
    private func members(
        _ row: ChannelFeed.Row, _ sight: Sight, _ chosen: NamedValues<[RevisionID]>?
    ) throws -> [(String, JSON)]? {
        let snapshot = sight.snapshot
        var revisions: [RevisionID] = []
        var members: [(String, JSON)] = []
        switch row.event {
        case .changed(let winner):
            revisions = try chosen.map { $0[row.id] ?? [] } ?? leaves(row.id, winner.revision, sight)
            if revisions.isEmpty || query.activeOnly && winner.isDeleted { return nil }
            if winner.isDeleted { members.append(("deleted", true)) }
            if query.includesDocuments, let document = try sight.winner(row.id) {
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

    /// The revisions of a document that are told, the winner first.
    private func leaves(_ id: String, _ winner: RevisionID, _ sight: Sight) throws -> [RevisionID] {
        guard query.allLeaves else { return [winner] }
        return try [winner] + SeenDocument(id, sight).leaves.filter { $0 != winner }
    }
}
