import Foundation
import Roost
import RoostCrypto
import RoostSync
import RoostWire
import Synchronization

/// CouchDB's API as a function from a request to a response, without a socket anywhere.
///
/// ```swift
/// let router = Router(try DatabaseDirectory("databases"))
/// let response = await router.respond(to: .get("/notes/_changes?since=0"), as: .admin)
/// ```
///
/// A program asks it as it is; `RoostServer` asks it for those who come over a network. It may be used from any thread. Bodies
/// are streams both ways: what is large is never held in memory as a whole.
public final class Router: Sendable {
    /// The version of CouchDB's API that is spoken.
    static let apiVersion = "3.5.0"

    /// The databases that are served.
    public let databases: DatabaseDirectory
    /// What is permitted.
    public var options: RouterOptions { permitted.withLock { $0 } }
    private let permitted: Mutex<RouterOptions>
    /// The app's own functions.
    public let hooks: Hooks
    /// The replications that `_replicator` and `_replicate` ask for. Those of documents wait until it is started.
    public let replicator: ReplicatorManager
    /// What was asked and answered since the router was made.
    public let statistics = ServerStatistics()
    let compactionRequests = CompactionRequests()
    /// What requests hold in memory.
    let memory: RequestBudget
    /// What they have stored of attachments that no document names yet.
    let uploads: RequestBudget
    let accounts: Accounts
    let filePictures = FilePictures()
    /// Where there is a sync function.
    let channelRouting: ChannelRouting?
    let channelWatches = ChannelWatches()
    let accessWatch: AccessWatch
    /// The threads on which everything is done that may take long. One user has no more of them than leave the processors to others.
    let workers = WorkerPool(
        limit: 8, share: max(2, min(4, ProcessInfo.processInfo.activeProcessorCount / 2)))
    let workPlaces: WorkPlaces

    /// A router for these databases.
    public init(
        _ databases: DatabaseDirectory, options: RouterOptions = RouterOptions(), hooks: Hooks = Hooks()
    ) {
        self.databases = databases
        permitted = Mutex(options)
        self.hooks = hooks
        memory = RequestBudget(limit: options.requestMemory, of: "memory")
        uploads = RequestBudget(limit: options.unsavedAttachments, of: "room for attachments")
        workPlaces = WorkPlaces(limit: options.requestsUnderWay)
        channelRouting = hooks.sync.map { ChannelRouting($0) }
        let accounts = Accounts(options, databases)
        self.accounts = accounts
        accessWatch = AccessWatch(accounts)
        var served = ReplicatorManager.Databases { name in
            try ServedDatabase.collection(of: try DatabaseName(name), in: databases, creating: false)
        } create: { name in
            guard
                let collection = try ServedDatabase.collection(
                    of: try DatabaseName(name), in: databases, creating: true)
            else { throw HTTPFailure.noDatabase }
            return collection
        }
        served.gate = { name, collection in
            WriteGate.ofReplications(to: try DatabaseName(name), collection, accounts)
        }
        served.filters = { ReplicationFilters.make(of: $0, hooks) }
        var replications = ReplicatorManager.Options()
        replications.longestAttachment = options.longestAttachment
        replicator = ReplicatorManager(served, options: replications)
    }

    /// Takes other options, for requests that come from now on. Sessions and feeds of administrators who are not in them, or have
    /// another password there, end. Bounds of what all requests hold together, ``RouterOptions/requestMemory`` and
    /// ``RouterOptions/unsavedAttachments``, stay as they were made, and so does what replications may store.
    public func use(_ options: RouterOptions) {
        permitted.withLock { $0 = options }
        accounts.use(options)
    }

    /// Has the sync function decide on everything in a database that was written without it, and returns when it has. Requests have the
    /// same done in the background, and don't wait for it.
    ///
    /// - Throws: 404 where there is no such database. What fails on the way is tried again with the next request.
    public func routeChannels(of database: String) async throws {
        guard let channelRouting else { return }
        let name = try DatabaseName(database)
        guard let collection = try ServedDatabase.collection(of: name, in: databases, creating: false) else {
            throw HTTPFailure.noDatabase
        }
        try channelRouting.begin(try ServedDatabase(name, collection.database, collection))
        await channelRouting.finish(name)
    }

    /// Answers a request as whoever its `Authorization` or its cookie says, with CORS: what a listener calls.
    ///
    /// Never throws: what goes wrong is an answer. Of a stream in it, an error on the way means that the body is not complete
    /// and that the connection has to be broken.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await counted(options.trustedProxies.resolved(request)) { await respondIdentified($0) }
    }

    private func respondIdentified(_ request: HTTPRequest) async -> HTTPResponse {
        let crossOrigin = CrossOrigin(request, options)
        if let answer = crossOrigin.preflight { return answer }
        var response: HTTPResponse
        do {
            try crossOrigin.check()
            let identity = try await accounts.identify(request, trustsCookies: crossOrigin.trustsCookies)
            response = await respond(to: request, as: identity.user, by: identity.handler)
            response.user = identity.user.name
            if let cookie = identity.renewedCookie, response.headers["Set-Cookie"] == nil {
                response.headers["Set-Cookie"] = cookie
            }
        } catch {
            response = finish(answer(HTTPFailure(error)), request)
        }
        if request.isSecure, let cookie = response.headers["Set-Cookie"] {
            response.headers["Set-Cookie"] = cookie + "; Secure"
        }
        crossOrigin.mark(&response)
        return response
    }

    /// Answers a request as `user`, whom the caller knows.
    public func respond(to request: HTTPRequest, as user: UserContext) async -> HTTPResponse {
        await counted(request) { await respond(to: $0, as: user, by: nil) }
    }

    private func counted(
        _ request: HTTPRequest, _ respond: (HTTPRequest) async -> HTTPResponse
    ) async -> HTTPResponse {
        let start = ContinuousClock.now
        let response = await respond(request)
        statistics.countRequest(request.method, response.status, took: start.duration(to: .now))
        return response
    }

    private func respond(
        to request: HTTPRequest, as user: UserContext, by handler: String?
    ) async -> HTTPResponse {
        let response: HTTPResponse
        do {
            let context = try context(request, user)
            response = try Self.holding(
                context.memory, for: try await Routes.respond(context, authenticatedBy: handler))
        } catch {
            response = answer(HTTPFailure(error))
        }
        return finish(response, request)
    }

    private func context(_ request: HTTPRequest, _ user: UserContext) throws -> RequestContext {
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        // Several slashes are one, as in CouchDB.
        for part in parts[0].split(separator: "/") {
            guard let text = PercentEncoding.decode(part) else {
                throw HTTPFailure.badRequest("The path has a broken percent escape.")
            }
            path.append(text)
        }
        let query = try QueryParameters(parts.count > 1 ? parts[1] : "")
        var method = request.method
        if method == "POST", let override = request.headers["X-HTTP-Method-Override"] { method = override }
        return RequestContext(
            router: self, request: request, method: method == "HEAD" ? "GET" : method, path: path,
            query: RequestQuery(query), user: user,
            work: RequestWork(self, request, user, path),
            memory: RequestMemory(memory, uploads, user, peer: request.peer))
    }

    /// Has the memory of a request last as long as its answer, and counts the answer.
    private static func holding(_ memory: RequestMemory, for response: HTTPResponse) throws -> HTTPResponse {
        var response = response
        switch response.body {
        case .stream(let body, let length):
            response.body = .stream(HeldBody(body: body, memory: memory), length: length)
        case .bytes(let bytes) where bytes.count > HeldBody.uncounted:
            let body = HeldBody(body: BytesBody(bytes), memory: memory)
            response.body = .stream(body, length: UInt64(bytes.count))
        case .bytes, .none: break
        }
        return response
    }

    private func answer(_ failure: HTTPFailure) -> HTTPResponse {
        RequestContext.answer(failure.status, failure.json, headers: failure.headers)
    }

    /// Adds what every answer says. A HEAD gets the length of what a GET gets, and nothing of it.
    private func finish(_ response: HTTPResponse, _ request: HTTPRequest) -> HTTPResponse {
        var response = response
        if response.headers["Cache-Control"] == nil { response.headers["Cache-Control"] = "must-revalidate" }
        response.headers["Server"] = "Roost (CouchDB \(Self.apiVersion))"
        response.headers["X-Content-Type-Options"] = "nosniff"
        if let id = request.headers["X-Couch-Request-ID"], id.utf8.count <= 36,
            id.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        {
            response.headers["X-Couch-Request-ID"] = id
        } else {
            response.headers["X-Couch-Request-ID"] = RandomText.hexadecimal(bytes: 5)
        }
        guard request.method == "HEAD" else { return response }
        switch response.body {
        case .none: break
        case .bytes(let bytes): response.body = .stream(BytesBody([]), length: UInt64(bytes.count))
        case .stream(_, let length): response.body = .stream(BytesBody([]), length: length)
        }
        return response
    }
}
