import Foundation
import Roost
import RoostWire
import Synchronization

/// What is done for one request apart from the threads that wait for sockets: in the turns of the user and of the database, for a
/// limited time, and no longer than the client waits.
final class RequestWork: Sendable {
    /// Whether the present task is such work already.
    @TaskLocal static var isUnderWay = false

    /// How many bytes a body, or a document, may have that is dealt with where it was received.
    static let mostAtOnce = 64 << 10

    private let user: UserContext
    private let peer: String
    private let database: String
    private let workers: WorkerPool
    private let limit: Duration?
    private let places: WorkPlaces
    private let client: (any RequestClient)?
    /// Created with the first work: most requests are answered where they were received.
    private let executor = Mutex<WorkExecutor?>(nil)

    /// Whom the work is for.
    var owner: WorkOwner {
        WorkOwner(user: user.owner(from: peer), database: database)
    }

    /// - Parameters:
    ///   - path: That of the request, whose first part is the database.
    init(_ router: Router, _ request: HTTPRequest, _ user: UserContext, _ path: [String]) {
        client = request.client
        places = router.workPlaces
        workers = router.workers
        limit = router.options.longestWork
        self.user = user
        peer = request.peer
        database = path.first ?? ""
    }

    /// Makes the answer, or what of it comes first, while the client is watched.
    ///
    /// - Throws: `WorkExecutor.Timeout`; an error of cancellation when the client has hung up; 503 where too many requests of the same
    ///   owner are under way.
    func respond<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        guard !Self.isUnderWay else { return try await body() }
        let owner = owner
        try places.take(owner)
        defer { places.leave(owner) }
        defer { client?.stopWatching() }
        return try await run(body) { client?.watch($0) }
    }

    /// Makes what comes next of an answer, for a task that is cancelled when the client hangs up.
    func run<R: Sendable>(
        _ body: @escaping @Sendable () async throws -> R,
        watch: (_ cancel: @escaping @Sendable () -> Void) -> Void = { _ in }
    ) async throws -> R {
        guard !Self.isUnderWay else { return try await body() }
        let executor = executor.withLock { executor in
            let found = executor ?? WorkExecutor(workers, for: owner, limit: limit)
            executor = found
            return found
        }
        return try await executor.run(
            {
                try await Self.$isUnderWay.withValue(true) { try await body() }
            }, watch: watch)
    }
}

/// How many requests of each owner are worked on, or wait for that; or how many feeds of each are open.
final class WorkPlaces: Sendable {
    private let limit: Int
    private let what: String
    private let counts = Mutex<[WorkOwner: Int]>([:])

    /// - Parameters:
    ///   - limit: How many there may be of one owner.
    ///   - what: What is counted, as the beginning of a sentence.
    init(limit: Int, of what: String = "requests of yours are under way") {
        self.limit = limit
        self.what = what
    }

    /// How many there are of all owners.
    var count: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// - Throws: 503 where there are too many.
    func take(_ owner: WorkOwner) throws {
        let owner = owner.ofAllDatabases
        let isTaken = counts.withLock { counts in
            guard counts[owner, default: 0] < limit else { return false }
            counts[owner, default: 0] += 1
            return true
        }
        guard isTaken else {
            throw HTTPFailure(
                503, "service unavailable",
                "\(limit) \(what). Wait for the end of one of them.",
                headers: ["Retry-After": "5"])
        }
    }

    func leave(_ owner: WorkOwner) {
        let owner = owner.ofAllDatabases
        counts.withLock { counts in
            let left = (counts[owner] ?? 1) - 1
            counts[owner] = left > 0 ? left : nil
        }
    }
}

/// The place of an answer that goes on without an end, among those of its owner: taken until the last reference has gone.
final class FeedPlace: Sendable {
    private let places: WorkPlaces
    private let owner: WorkOwner

    /// - Throws: 503 where there are too many.
    init(_ places: WorkPlaces, _ owner: WorkOwner) throws {
        try places.take(owner)
        self.places = places
        self.owner = owner
    }

    deinit { places.leave(owner) }
}

/// A body, and the place that it has for as long as it is sent.
struct PlacedBody: BodyStream {
    let body: any BodyStream
    let place: FeedPlace

    func next() async throws -> [UInt8]? { try await body.next() }
}

/// A body that is made as work of its request, piece by piece.
struct WorkedBody: BodyStream {
    let body: any BodyStream
    let work: RequestWork

    func next() async throws -> [UInt8]? { try await work.run { try await body.next() } }
}

extension RequestContext {
    /// Whether answering may take longer than the threads that wait for sockets have time for: all but single documents that are
    /// small, and what is in memory.
    var takesLong: Bool {
        if request.body != nil, statedLength ?? .max > RequestWork.mostAtOnce { return true }
        switch path.first {
        case nil, "_session", "_up", "_uuids": return false
        case "_utils": return path.count > 2
        case let name? where name.begins(with: "_") && !["_users", "_replicator"].contains(name): return true
        default: return takesLong(Array(path.dropFirst()))
        }
    }

    /// - Parameter path: What follows the database's name.
    private func takesLong(_ path: [String]) -> Bool {
        guard let first = path.first else { return !["GET", "POST"].contains(method) }
        switch first {
        // They are seldom, and may be large.
        case "_local": return true
        case "_security", "_revs_limit", "_ensure_full_commit": return path.count > 1
        case "_design" where path.count > 2 && path[2].begins(with: "_"): return true
        case "_design": return takesLong(path.count - 2)
        case let name where name.begins(with: "_"): return true
        default: return takesLong(path.count - 1)
        }
    }

    /// - Parameter names: How many parts of the path follow that of a document.
    private func takesLong(_ names: Int) -> Bool {
        switch method {
        case "GET" where names > 0: headers["Range"] != nil
        case "GET": !query.parameters.values.isEmpty
        case "PUT", "DELETE": names > 0 || headers["Content-Type"]?.hasPrefix("multipart/") == true
        default: true
        }
    }
}
