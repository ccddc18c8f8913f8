import Fleece
import Roost
import RoostQuery
import RoostWire

/// The rows of a view as they are sent: a page at a time, all as of one moment, so that slow clients hold neither a thread nor
/// more than a page.
actor ViewBody: BodyStream {
    typealias DesignView = CollectionView<FleeceValue, FleeceValue>

    private static let pageSize = 500

    private let view: DesignView
    private let served: ServedDatabase
    private let snapshot: CollectionSnapshot
    private let text: DocumentText
    private let workers: WorkerPool
    private let tellsSequence: Bool
    /// What is still to be sent.
    private var query: ViewQuery
    private var hasBegun = false
    /// Where the groups go on.
    private var place: GroupPlace?
    private var hasEnded = false

    init(_ view: DesignView, _ query: ViewQuery, _ target: DatabaseContext, _ parameters: Query) throws {
        self.view = view
        self.query = query
        served = target.served
        snapshot = try target.collection.snapshot()
        text = try DocumentText(parameters)
        workers = target.context.router.workers
        tellsSequence = try parameters.flag("update_seq")
    }

    func next() async throws -> [UInt8]? {
        guard !hasEnded else { return nil }
        let isReduced = query.reduces ?? view.isReduced
        return isReduced ? try await groups() : try await page()
    }

    // MARK: Rows

    private func page() async throws -> [UInt8] {
        var page = query
        page.limit = min(query.limit, Self.pageSize)
        let (wanted, isFirst) = (page, !hasBegun)
        let (bytes, count) = try await workers.run { [self] in try rows(wanted, isFirst: isFirst) }
        hasBegun = true
        query.skip += count
        query.limit -= count
        guard count < page.limit || query.limit == 0 else { return bytes }
        hasEnded = true
        return bytes + Array("\n]}\n".utf8)
    }

    /// The text of some rows, after the beginning where they are the first, and how many they are.
    private nonisolated func rows(_ page: ViewQuery, isFirst: Bool) throws -> (text: [UInt8], count: Int) {
        let rows = try view.rows(page, at: snapshot)
        var bytes: [UInt8] = []
        if isFirst {
            bytes.append(UInt8(ascii: "{"))
            if page.isSorted { bytes += "\"total_rows\":\(rows.totalRows),\"offset\":\(rows.offset),".utf8 }
            if tellsSequence { bytes += "\"update_seq\":\"\(served.token(rows.updateSequence))\",".utf8 }
            bytes += "\"rows\":[\n".utf8
        }
        for (index, row) in rows.enumerated() {
            if index > 0 || !isFirst { bytes += ",\n".utf8 }
            var members: [(String, JSON)] = [
                ("id", .string(row.id)), ("key", .text(row.key.jsonBytes())),
                ("value", .text(row.value.jsonBytes())),
            ]
            if page.includesDocuments {
                let document = try row.document.map { try text.bytes($0, in: snapshot, of: served) }
                members.append(("doc", document.map { .text($0) } ?? .null))
            }
            JSON.object(members).write(to: &bytes)
        }
        return (bytes, rows.count)
    }

    // MARK: Groups

    private func groups() async throws -> [UInt8] {
        let (view, query, snapshot, place) = (view, query, snapshot, place)
        let isFirst = !hasBegun
        let (bytes, next) = try await workers.run {
            let (groups, next) = try view.groups(query, at: snapshot, from: place, limit: Self.pageSize)
            var bytes = isFirst ? Array("{\"rows\":[\n".utf8) : []
            for (index, group) in groups.enumerated() {
                if index > 0 || !isFirst { bytes += ",\n".utf8 }
                let row: JSON = [
                    "key": group.key.map { .text($0.jsonBytes()) } ?? .null,
                    "value": .text(group.value.jsonBytes()),
                ]
                row.write(to: &bytes)
            }
            if next == nil { bytes += "\n]}\n".utf8 }
            return (bytes, next)
        }
        hasBegun = true
        self.place = next
        hasEnded = next == nil
        return bytes
    }
}

extension WorkerPool {
    /// Runs what takes long, such as building an index, on a thread of the pool.
    func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await run(cancelled: CancellationError() as any Error) { _ in try body() }
    }
}
