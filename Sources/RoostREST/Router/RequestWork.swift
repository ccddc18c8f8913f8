import Foundation
import Roost
import RoostWire
import Synchronization

/// What is done for one request apart from the threads that wait for sockets: in the turns of who asks and of the database, for a
/// limited time, and no longer than the client waits.
final class RequestWork: Sendable {
    /// Whether the present task is such work already.
    @TaskLocal private static var isUnderWay = false

    /// How many bytes a body, or a document, may have that is dealt with where it was received.
    static let mostAtOnce = 64 << 10

    /// Whom the work is for.
    let owner: WorkOwner
    private let executor: WorkExecutor
    private let places: WorkPlaces
    private let client: (any RequestClient)?

    /// - Parameters:
    ///   - path: That of the request, whose first part is the database.
    init(_ router: Router, _ request: HTTPRequest, _ user: UserContext, _ path: [String]) {
        client = request.client
        places = router.workPlaces
        owner = WorkOwner(
            user: user.name.map { "user \($0)" } ?? "peer \(request.peer)", database: path.first ?? "")
        executor = WorkExecutor(router.workers, for: owner, limit: router.options.longestWork)
    }

    /// Makes the answer, or what of it comes first, while the client is watched.
    ///
    /// - Throws: `WorkExecutor.Timeout`; an error of cancellation when the client has hung up; 503 where too many requests of the same
    ///   owner are under way.
    func respond<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
        guard !Self.isUnderWay else { return try await body() }
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
        return try await executor.run(
            {
                try await Self.$isUnderWay.withValue(true) { try await body() }
            }, watch: watch)
    }
}

/// How many requests of each owner are worked on, or wait for that.
final class WorkPlaces: Sendable {
    private let limit: Int
    private let counts = Mutex<[WorkOwner: Int]>([:])

    /// - Parameter limit: How many there may be of one owner.
    init(limit: Int) { self.limit = limit }

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
                "\(limit) requests of yours are under way. Wait for the answer to one of them.",
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
        if request.body != nil, !isShort(headers["Content-Length"]) { return true }
        switch path.first {
        case nil, "_session", "_up", "_uuids": return false
        case "_utils": return path.count > 2
        case let name? where name.hasPrefix("_") && !["_users", "_replicator"].contains(name): return true
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
        case "_design" where path.count > 2 && path[2].hasPrefix("_"): return true
        case "_design": return takesLong(path.count - 2)
        case let name where name.hasPrefix("_"): return true
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

    private func isShort(_ length: String?) -> Bool {
        length.flatMap { Int($0) }.map { $0 <= RequestWork.mostAtOnce } ?? false
    }
}
