import Roost
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A replication that a manager runs, or will.
struct ReplicationJob: Sendable {
    /// Where it is in its life, in CouchDB's words.
    enum State: Sendable, Equatable {
        /// It waits for its turn.
        case pending
        case running
        /// It failed, and is tried again at that time.
        case crashing(until: Date)
    }

    /// What happened to it.
    struct Event: Sendable {
        let time: Date
        let type: String
        var reason: String?
    }

    let request: ReplicationRequest
    /// The document of `_replicator` that requested it; `nil` for a request to `_replicate`.
    let document: String?
    /// How often it has begun, so that what comes late from an earlier run is known as such.
    private(set) var run = 0
    private(set) var state = State.pending
    private(set) var replication: Replication?
    private(set) var errorCount = 0
    /// The newest first.
    private(set) var history: [Event]
    let startTime = Date()
    private(set) var lastUpdated = Date()

    private static let longestHistory = 20

    init(_ request: ReplicationRequest, document: String?) {
        self.request = request
        self.document = document
        history = [Event(time: Date(), type: "added")]
    }

    /// When it began to run, or to wait for its turn.
    var since: Date { lastUpdated }

    mutating func begin() {
        run += 1
        become(.running, "started")
    }

    mutating func runs(_ replication: Replication) { self.replication = replication }

    /// Waits for its turn again.
    mutating func wait() {
        replication = nil
        become(.pending, "stopped")
    }

    mutating func retry() { become(.pending, nil) }

    /// It ended with an error.
    mutating func crash(_ error: any Error, _ options: ReplicatorManager.Options) {
        // Some time without trouble makes up for what was before.
        if Date().timeIntervalSince(lastUpdated) >= options.healthySeconds { errorCount = 0 }
        errorCount += 1
        replication = nil
        let delay = options.firstDelay * Double(1 << min(errorCount - 1, 10))
        become(.crashing(until: Date().addingTimeInterval(delay)), "crashed", error.sentence)
    }

    private mutating func become(_ state: State, _ type: String?, _ reason: String? = nil) {
        self.state = state
        lastUpdated = Date()
        guard let type else { return }
        history =
            [Event(time: lastUpdated, type: type, reason: reason)] + history.prefix(Self.longestHistory - 1)
    }

    // MARK: Rows

    private var stateName: String {
        switch state {
        case .pending: "pending"
        case .running: replication == nil ? "initializing" : "running"
        case .crashing: "crashing"
        }
    }

    private var information: DocumentValue {
        if case .crashing = state, let reason = history.first?.reason {
            return .dictionary(["error": .string(reason)])
        }
        guard let counts = replication?.status.pushed else { return .null }
        return .dictionary(counts.members)
    }

    /// A row of `_scheduler/jobs`.
    var jobRow: DocumentValue {
        .dictionary([
            "database": document == nil ? .null : .string(ReplicatorManager.databaseName),
            "doc_id": document.map { .string($0) } ?? .null, "id": .string(request.id), "pid": .null,
            "node": .string("nonode@nohost"), "user": .null,
            "source": .string(request.source.description), "target": .string(request.target.description),
            "start_time": .string(startTime.formatted(.iso8601)), "info": information,
            "history": .array(
                history.map { event in
                    var row: NamedValues<DocumentValue> = [
                        "timestamp": .string(event.time.formatted(.iso8601)), "type": .string(event.type),
                    ]
                    if let reason = event.reason { row["reason"] = .string(reason) }
                    return .dictionary(row)
                }),
        ])
    }

    /// A row of `_scheduler/docs`.
    var documentRow: DocumentValue {
        .dictionary([
            "database": .string(ReplicatorManager.databaseName), "doc_id": .string(document ?? ""),
            "id": .string(request.id), "node": .string("nonode@nohost"),
            "source": .string(request.source.description), "target": .string(request.target.description),
            "state": .string(stateName), "info": information, "error_count": .integer(Int64(errorCount)),
            "last_updated": .string(lastUpdated.formatted(.iso8601)),
            "start_time": .string(startTime.formatted(.iso8601)), "source_proxy": .null,
            "target_proxy": .null,
        ])
    }

    /// A row of `_active_tasks`; `nil` while it does not run.
    var taskRow: DocumentValue? {
        guard let counts = replication?.status.pushed else { return nil }
        var row = counts.members
        row["type"] = .string("replication")
        row["replication_id"] = .string(request.id)
        row["database"] = document == nil ? .null : .string(ReplicatorManager.databaseName)
        row["doc_id"] = document.map { .string($0) } ?? .null
        row["continuous"] = .bool(request.options.isContinuous)
        row["source"] = .string(request.source.description)
        row["target"] = .string(request.target.description)
        row["started_on"] = .integer(Int64(startTime.timeIntervalSince1970))
        row["updated_on"] = .integer(Int64(Date().timeIntervalSince1970))
        row["node"] = .string("nonode@nohost")
        row["user"] = .null
        return .dictionary(row)
    }
}

extension ReplicationCounts {
    /// With CouchDB's names.
    var members: NamedValues<DocumentValue> {
        func position(_ position: SourcePosition?) -> DocumentValue {
            position.flatMap { try? DocumentValue(json: $0.json) } ?? .integer(0)
        }
        return [
            "revisions_checked": .integer(Int64(checked)),
            "missing_revisions_found": .integer(Int64(missing)),
            "docs_read": .integer(Int64(written + failed)), "docs_written": .integer(Int64(written)),
            "doc_write_failures": .integer(Int64(failed)),
            "changes_pending": pending.map { .integer(Int64($0)) } ?? .null,
            "source_seq": position(self.position), "through_seq": position(self.position),
            "checkpointed_source_seq": position(recorded),
        ]
    }
}
