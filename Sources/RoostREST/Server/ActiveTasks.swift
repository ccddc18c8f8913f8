import Roost
import RoostQuery
import RoostSync
import RoostWire
import Synchronization

/// `_active_tasks`: what the server does besides answering: replications, compactions, and the building of indexes and views.
enum ActiveTasks {
    static func respond(_ context: RequestContext) async throws -> HTTPResponse {
        try context.allow("GET")
        try Security.requireServerAdmin(context.user)
        var rows = try await context.router.replicator.taskRows().map(ReplicationRoutes.json)
        for (name, database) in context.router.databases.openDatabases {
            let now = database.now
            if let work = database.compactionUnderWay {
                rows.append(
                    row(
                        "database_compaction", name, started: work.start, now: now, work.progress.fraction,
                        [
                            ("bytes_done", .number(work.progress.completed)),
                            ("total_bytes", .number(work.progress.total)),
                        ]))
            }
            for build in database.viewBuilds {
                let fraction = Double(build.documentsMapped) / Double(max(1, build.documentsTotal))
                rows.append(
                    row(
                        "indexer", DatabaseName.text(name, build.scope, build.collection),
                        started: build.start, now: now, fraction,
                        [
                            ("design_document", build.design.map { .string($0) } ?? .null),
                            ("changes_done", .number(build.documentsMapped)),
                            ("total_changes", .number(build.documentsTotal)),
                        ]))
            }
        }
        for (name, work) in context.router.channelRouting?.underWay ?? [] {
            let (done, total) = (work.position.sequence, work.end)
            rows.append(
                row(
                    "channel_routing", name, started: work.start, now: work.now,
                    Double(done) / Double(max(1, total)),
                    [
                        ("changes_done", .number(done)), ("total_changes", .number(total)),
                        ("docs_refused", .number(work.position.refused)),
                    ]))
        }
        return context.answer(.array(rows))
    }

    /// - Parameters:
    ///   - started: In microseconds since 1970, as `now`.
    ///   - fraction: The part that is done.
    private static func row(
        _ type: String, _ database: String, started: UInt64, now: UInt64, _ fraction: Double,
        _ more: [(String, JSON)]
    ) -> JSON {
        .object(
            [
                ("type", .string(type)), ("database", .string(database)), ("node", "nonode@nohost"),
                ("started_on", .number(started / 1_000_000)), ("updated_on", .number(now / 1_000_000)),
                ("progress", .number(Int(min(1, fraction) * 100))),
            ] + more)
    }
}

/// The databases whose compaction was asked for and is not over, by their own names: so that it is under way for whoever asks
/// directly after.
final class CompactionRequests: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func contains(_ database: String) -> Bool { counts.withLock { $0[database] != nil } }

    func begin(_ database: String) { counts.withLock { $0[database, default: 0] += 1 } }

    func end(_ database: String) {
        counts.withLock { counts in
            guard let count = counts[database] else { return }
            counts[database] = count > 1 ? count - 1 : nil
        }
    }
}
