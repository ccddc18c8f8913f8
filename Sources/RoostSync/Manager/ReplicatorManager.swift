import Roost
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs the replications that the documents of a database request, as CouchDB's `_replicator` does.
///
/// A document becomes a job, changed it becomes another one, and deleted it ends it. What a job came to is written into its
/// document. After a crash of the program, all continue from their checkpoints. A limited number runs at a time, and
/// those that would run for ever take turns.
public actor ReplicatorManager {
    /// How many jobs run, and when.
    public struct Options: Sendable {
        /// How many run at a time. Default: 20.
        public var runningJobs = 20
        /// Seconds that a continuous job may run while others wait. Default: 60.
        public var turnSeconds = 60.0
        /// Seconds after which a job that failed is tried again; they double, ten times at most. Default: 30.
        public var firstDelay = 30.0
        /// Seconds without trouble after which earlier failures don't count. Default: 120.
        public var healthySeconds = 120.0
        /// How long an attachment may be, in bytes, that is pulled from elsewhere. Default: 1 GiB.
        public var longestAttachment: UInt64 = 1 << 30

        /// The defaults.
        public init() {}
    }

    /// Finds the databases that replications name.
    public struct Databases: Sendable {
        let open: @Sendable (_ name: String) throws -> DocumentCollection?
        let create: @Sendable (_ name: String) throws -> DocumentCollection
        /// What revisions that are stored in a database must pass; `nil` for nothing.
        package var gate:
            @Sendable (_ name: String, _ collection: DocumentCollection) throws -> ReplicationGate? = {
                _, _ in nil
            }
        /// Makes filters for changes of a database that is a source.
        package var filters: (@Sendable (_ name: String) -> LocalFilters)?

        /// - Parameters:
        ///   - open: The database of a name; `nil` where there is none.
        ///   - create: Returns the database of a name, and creates it if there is none.
        public init(
            open: @escaping @Sendable (_ name: String) throws -> DocumentCollection?,
            create: @escaping @Sendable (_ name: String) throws -> DocumentCollection
        ) {
            self.open = open
            self.create = create
        }
    }

    /// The database of the documents that request replications.
    public static let databaseName = "_replicator"

    private let databases: Databases
    private let options: Options
    private var jobs: [String: ReplicationJob] = [:]
    private var watching: Task<Void, Never>?
    private var timer: Task<Void, Never>?

    /// A manager that does nothing until it is started.
    public init(_ databases: Databases, options: Options = Options()) {
        self.databases = databases
        self.options = options
    }

    /// Starts to follow the documents, and creates their database if there is none. A second call has no effect.
    public func start() {
        guard watching == nil else { return }
        watching = Task { [weak self] in
            while !Task.isCancelled {
                guard let collection = await self?.collection() else { return }
                await self?.forgetDocuments()
                do {
                    for try await change in collection.changes(since: 0) {
                        try await self?.look(at: change.id, in: collection)
                    }
                } catch {}
                // The database was closed or deleted, or can't be read: retry after a second.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Ends all jobs where they are; the documents stay, and a manager that is started goes on with them. Waits for the end.
    public func stop() async {
        watching?.cancel()
        timer?.cancel()
        (watching, timer) = (nil, nil)
        let replications = jobs.values.compactMap(\.replication)
        jobs = [:]
        for replication in replications { await replication.stop() }
    }

    private func collection() async -> DocumentCollection? {
        while !Task.isCancelled {
            if let collection = try? databases.create(Self.databaseName) { return collection }
            try? await Task.sleep(for: .seconds(1))
        }
        return nil
    }

    // MARK: Documents

    /// The database of the documents is another one.
    private func forgetDocuments() async {
        for job in jobs.values where job.document != nil { await end(job) }
    }

    private func look(at id: String, in collection: DocumentCollection) async throws {
        guard !id.begins(with: "_design/") else { return }
        let job = jobs.values.first { $0.document?.isIdentical(to: id) == true }
        guard let document = try collection.document(id), !document.isDeleted,
            !["completed", "failed"].contains(document["_replication_state"].string)
        else {
            if let job { await end(job) }
            return
        }
        do {
            let request = try ReplicationRequest(.dictionary(document.mutableCopy().properties))
            if let job, job.request.isSame(as: request) { return }
            if let job { await end(job) }
            guard jobs[request.id] == nil else {
                throw ReplicationRequestError("There is a job for the same replication already.")
            }
            jobs[request.id] = ReplicationJob(request, document: id)
            schedule()
        } catch let error as ReplicationRequestError {
            if let job { await end(job) }
            try await write("failed", to: id, reason: error.description, nil)
        }
    }

    /// Writes what became of a job into its document.
    private func write(
        _ state: String, to id: String, reason: String?, _ counts: ReplicationCounts?
    ) async throws {
        guard let collection = try databases.open(Self.databaseName) else { return }
        try await collection.database.write { batch in
            guard var draft = try batch.document(id, in: collection)?.mutableCopy() else { return }
            draft.properties["_replication_state"] = .string(state)
            draft.properties["_replication_state_time"] = .string(Date().formatted(.iso8601))
            draft.properties["_replication_state_reason"] = reason.map { .string($0) }
            draft.properties["_replication_stats"] = counts.map { .dictionary($0.members) }
            try batch.save(&draft, in: collection)
        }
    }

    // MARK: Jobs

    private func end(_ job: ReplicationJob) async {
        jobs[job.request.id] = nil
        await job.replication?.stop()
        schedule()
    }

    /// Starts pending jobs, the longest pending first, and pauses others that have run long enough.
    private func schedule() {
        let now = Date()
        for (id, job) in jobs {
            if case .crashing(let time) = job.state, time <= now { jobs[id]?.retry() }
        }
        let waiting = jobs.values.filter { $0.state == .pending }.sorted { $0.since < $1.since }
        let running = jobs.values.filter { $0.state == .running }
        var free = options.runningJobs - running.count
        for job in waiting.prefix(max(free, 0)) { begin(job.request.id) }
        free -= waiting.count
        if free < 0 {
            let tired = running.filter {
                $0.request.options.isContinuous && now.timeIntervalSince($0.since) >= options.turnSeconds
            }
            for job in tired.sorted(by: { $0.since < $1.since }).prefix(-free) { pause(job) }
        }
        setTimer()
    }

    /// Looks again when something may have to be done.
    private func setTimer() {
        timer?.cancel()
        timer = nil
        let now = Date()
        let isFull = jobs.values.contains { $0.state == .pending }
        let times = jobs.values.compactMap { job -> Date? in
            switch job.state {
            case .crashing(let time): time
            case .running where isFull && job.request.options.isContinuous:
                job.since.addingTimeInterval(options.turnSeconds)
            case .pending, .running: nil
            }
        }
        guard let next = times.min() else { return }
        timer = Task { [weak self] in
            try? await Task.sleep(for: .seconds(max(next.timeIntervalSince(now), 0.01)))
            if !Task.isCancelled { await self?.schedule() }
        }
    }

    /// Lets another one run.
    private func pause(_ job: ReplicationJob) {
        let replication = job.replication
        jobs[job.request.id]?.wait()
        Task {
            await replication?.stop()
            self.schedule()
        }
    }

    private func begin(_ id: String) {
        jobs[id]?.begin()
        guard let job = jobs[id] else { return }
        Task {
            do {
                let replication = try await self.replication(of: job.request)
                guard self.isCurrent(job) else { return }
                self.jobs[id]?.runs(replication)
                await self.ended(job, try await replication.finished)
            } catch {
                self.failed(job, error)
            }
        }
    }

    /// Whether the job is still in the run that it was in.
    private func isCurrent(_ job: ReplicationJob) -> Bool {
        guard let present = jobs[job.request.id] else { return false }
        return present.run == job.run && present.state == .running
    }

    private func ended(_ job: ReplicationJob, _ status: ReplicationStatus) async {
        guard isCurrent(job) else { return }
        jobs[job.request.id] = nil
        if let document = job.document {
            try? await write("completed", to: document, reason: nil, status.pushed)
        }
        schedule()
    }

    private func failed(_ job: ReplicationJob, _ error: any Error) {
        guard isCurrent(job) else { return }
        jobs[job.request.id]?.crash(error, options)
        schedule()
    }

    private func replication(of request: ReplicationRequest) async throws -> Replication {
        let source = try peer(request.source, creating: false)
        if request.createsTarget, case .remote(let database) = request.target { try await database.create() }
        let target = try peer(request.target, creating: request.createsTarget)
        return Replication(source, target, resolvingIn: nil, request.options)
    }

    private func peer(
        _ endpoint: ReplicationRequest.Endpoint, creating: Bool
    ) throws -> any ReplicationPeer {
        switch endpoint {
        case .remote(let database): return try database.peer
        case .local(let name):
            guard let collection = try creating ? databases.create(name) : databases.open(name) else {
                throw MissingDatabaseError(name: name)
            }
            return DatabasePeer(
                collection, longestAttachment: options.longestAttachment,
                gate: try databases.gate(name, collection), filters: databases.filters?(name))
        }
    }

    // MARK: Requests

    /// What a request for a replication came to.
    package enum Outcome: Sendable {
        /// It ran to its end.
        case finished(ReplicationStatus)
        /// It goes on under that name.
        case running(String)
        /// The job of that name was ended.
        case cancelled(String)
    }

    /// Does what the body of `_replicate` asks: runs a replication and waits for its end, begins a continuous one, or ends one.
    /// What is begun so is forgotten when the program ends.
    ///
    /// - Throws: What ended it; ``UnknownJobError`` for a job to be ended that is not there.
    package func replicate(_ request: ReplicationRequest) async throws -> Outcome {
        guard !request.isCancellation else { return try await cancel(request.id) }
        if request.options.isContinuous {
            if jobs[request.id] == nil { jobs[request.id] = ReplicationJob(request, document: nil) }
            schedule()
            return .running(request.id)
        }
        return .finished(try await replication(of: request).finished)
    }

    /// Ends the job of that name that a request began.
    ///
    /// - Throws: ``UnknownJobError`` where there is none.
    package func cancel(_ id: String) async throws -> Outcome {
        // CouchDB takes the name without what follows the digest, too.
        guard let job = jobs[id] ?? jobs[id + ReplicationRequest.continuousSuffix], job.document == nil else {
            throw UnknownJobError()
        }
        await end(job)
        return .cancelled(job.request.id)
    }

    // MARK: Rows of the scheduler

    /// The rows of `_scheduler/jobs`, by name.
    package func jobRows() -> [(id: String, row: DocumentValue)] {
        jobs.values.sorted { $0.request.id < $1.request.id }.map { ($0.request.id, $0.jobRow) }
    }

    /// The rows of `_scheduler/docs`, by document: of jobs, and of documents whose jobs have ended.
    package func documentRows() throws -> [(id: String, row: DocumentValue)] {
        var rows = NamedValues<DocumentValue>()
        for job in jobs.values {
            if let document = job.document { rows[document] = job.documentRow }
        }
        if let collection = try databases.open(Self.databaseName) {
            let snapshot = try collection.snapshot()
            for document in try snapshot.documents(DocumentSelection())
            where rows[document.id] == nil && !document.id.begins(with: "_design/") {
                rows[document.id] = Self.row(of: document)
            }
        }
        return rows.map { ($0.key, $0.value) }
    }

    private static func row(of document: Document) -> DocumentValue {
        func copy(_ name: String) -> DocumentValue { DocumentValue(document[name]) ?? .null }
        let request = try? ReplicationRequest(.dictionary(document.mutableCopy().properties))
        return .dictionary([
            "database": .string(databaseName), "doc_id": .string(document.id),
            "id": request.map { .string($0.id) } ?? .null, "node": .string("nonode@nohost"),
            "source": request.map { .string($0.source.description) } ?? .null,
            "target": request.map { .string($0.target.description) } ?? .null,
            "state": document["_replication_state"].exists
                ? copy("_replication_state") : .string("initializing"),
            "info": document["_replication_state_reason"].exists
                ? .dictionary(["error": copy("_replication_state_reason")]) : copy("_replication_stats"),
            "error_count": .integer(0), "last_updated": copy("_replication_state_time"),
            "start_time": copy("_replication_state_time"), "source_proxy": .null, "target_proxy": .null,
        ])
    }

    /// The rows of `_active_tasks`.
    package func taskRows() -> [DocumentValue] {
        jobs.values.sorted { $0.request.id < $1.request.id }.compactMap(\.taskRow)
    }
}

/// A job that a request wants to end is not there.
package struct UnknownJobError: Error, CustomStringConvertible {
    package var description: String { "There is no such replication." }
}

/// A database that a replication names is not there.
package struct MissingDatabaseError: Error, CustomStringConvertible {
    package let name: String

    package var description: String { "There is no database \(name)." }
}
