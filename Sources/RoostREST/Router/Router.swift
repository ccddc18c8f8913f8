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
/// A program calls it directly; `RoostServer` calls it for clients on a network. It may be used from any thread. Bodies
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
    /// How many requests addresses and users have sent lately.
    let rates = RequestRates()
    let filePictures = FilePictures()
    /// Where there is a sync function.
    let channelRouting: ChannelRouting?
    let channelWatches = ChannelWatches()
    let accessWatch: AccessWatch
    /// The threads on which everything is done that may take long. One user has no more of them than leave the processors to others, and
    /// all of them let those pass that answer short requests.
    let workers = WorkerPool(
        limit: 8, share: max(2, min(4, ProcessInfo.processInfo.activeProcessorCount / 2)), priority: .low)
    let workPlaces: WorkPlaces
    let feedPlaces: WorkPlaces

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
        feedPlaces = WorkPlaces(limit: options.openFeeds, of: "feeds of yours are open")
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

    /// Routes everything in a database that was written without the sync function, and returns when that is done. Requests have the
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

    /// Answers a request as the user that its `Authorization` or its cookie names, with CORS: what a listener calls.
    ///
    /// Never throws: what goes wrong is an answer. Of a stream in it, an error on the way means that the body is not complete
    /// and that the connection has to be broken.
    public func respond(to request: HTTPRequest) async -> HTTPResponse {
        await counted(options.trustedProxies.resolved(request)) { await respondIdentified($0) }
    }

    private func respondIdentified(_ request: HTTPRequest) async -> HTTPResponse {
        let options = options
        let crossOrigin = CrossOrigin(request, options)
        if let answer = crossOrigin.preflight { return answer }
        var response: HTTPResponse
        do {
            try crossOrigin.check()
            try rates.take(.address(request.peer), limit: options.requestsPerMinuteOfAddress)
            let identity = try await accounts.identify(request, trustsCookies: crossOrigin.trustsCookies)
            if let name = identity.user.name {
                try rates.take(.user(name), limit: options.requestsPerMinuteOfUser)
            }
            response = await respond(to: request, as: identity.user, by: identity.handler)
            response.user = identity.user.name
            if let cookie = identity.renewedCookie, response.headers["Set-Cookie"] == nil {
                response.headers["Set-Cookie"] = cookie
            }
        } catch {
            response = finish(answer(HTTPFailure(error)), request)
            report(error, request, nil, response)
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
        do {
            let context = try context(request, user)
            let response = try Self.holding(
                context.memory, for: try await Routes.respond(context, authenticatedBy: handler))
            return watching(finish(response, request), request, user)
        } catch {
            let response = finish(answer(HTTPFailure(error)), request)
            report(error, request, user, response)
            return response
        }
    }

    /// Tells the operator of what was the server's own fault.
    private func report(
        _ error: any Error, _ request: HTTPRequest, _ user: UserContext?, _ response: HTTPResponse
    ) {
        guard let report = hooks.failures,
            let failure = ServedFailure(error, request, user, response)
        else { return }
        report(failure)
    }

    /// Has an answer's body count as a feed where it is one, and its failure reported.
    private func watching(
        _ response: HTTPResponse, _ request: HTTPRequest, _ user: UserContext
    ) -> HTTPResponse {
        guard case .stream(var body, let length) = response.body else { return response }
        var watched = response
        if response.isEndless { body = FeedBody(body, statistics.feeds) }
        if hooks.failures != nil {
            body = ReportedBody(body: body) { [self] error in report(error, request, user, response) }
        }
        watched.body = .stream(body, length: length)
        return watched
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

    /// Keeps the memory of a request reserved as long as its answer, and counts the answer.
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
        response.headers["Server"] = "Roost/\(RoostVersion.number) (CouchDB \(Self.apiVersion))"
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

/// What a router permits.
public struct RouterOptions: Sendable {
    /// How long a body may be that is held in memory, in bytes: JSON. What is built from it counts as well: see ``requestMemory``. Default:
    /// 64 MiB.
    public var longestJSON = 64 << 20
    /// How many bytes of memory all requests together may hold for bodies, for what is built from them and for answers; those of one
    /// user, or of one address without a user, at most half of it. Requests beyond that wait, and are answered with 503 and
    /// `Retry-After` when that takes too long. Default: 192 MiB.
    public var requestMemory = 192 << 20
    /// How long an attachment may be, in bytes. Default: 1 GiB, as in CouchDB.
    public var longestAttachment: UInt64 = 1 << 30
    /// How many bytes of attachments all requests together may have stored that no document names yet; those of one user, or of one
    /// address without a user, at most half of it. Requests beyond that wait as for ``requestMemory``. Default: 8 GiB.
    public var unsavedAttachments = Int(clamping: UInt64(8) << 30)
    /// The origins of web pages that may send requests, such as `https://app.example.org`; `*` for all. Default: none.
    public var origins: [String] = []
    /// Whether pages of listed origins may send credentials. Those that `*` alone admits never may. Default: true.
    public var allowsCredentials = true
    /// The proxies that are believed when they tell for whom they ask. Default: those of this machine.
    public var trustedProxies = TrustedProxies.loopback
    /// Whether those who have not said who they are may use databases where there is a sync function, as far as `_security` lets them:
    /// who sees what is in the channel of everybody, and is asked about by the function as nobody. Default: false.
    public var allowsGuests = false
    /// The administrators of the server by name, with their passwords.
    public var admins: [String: String] = [:]
    /// How many rounds of PBKDF2 the password of a new user is stored with; every log-in takes the time of that number. Accounts that were
    /// brought from elsewhere may have fewer, and more only up to 600,000. Default: 600,000.
    public var passwordRounds = 600_000
    /// How long the server may work on one request, besides waiting for its turn and for the client; after that it is answered with
    /// 500 `timeout`, or its answer breaks off. What was made of an index until then stays. Default: 5 minutes, `nil` for ever.
    public var longestWork: Duration? = .seconds(300)
    /// How many requests of one user, or of one address without a user, may be worked on or wait for that at a time, feeds that wait and
    /// answers that are being sent not counted. Others are answered with 503 and `Retry-After`. Default: 128.
    public var requestsUnderWay = 128
    /// How many requests a minute one address may send; of version 6, one network of 64 bits. As many may come at once. Others are
    /// answered with 429 and `Retry-After`, before passwords are looked at. Default: `nil`, any number.
    public var requestsPerMinuteOfAddress: Int?
    /// How many requests a minute one user may send, from all addresses together; as ``requestsPerMinuteOfAddress``. Default: `nil`.
    public var requestsPerMinuteOfUser: Int?
    /// How many answers that go on without an end one user, or one address without a user, may have at a time: feeds, long polls and
    /// WebSockets. Others are answered with 503 and `Retry-After`. Administrators of the server have no such limit. Default: 512.
    public var openFeeds = 512
    /// How long a session lasts that is not used, in seconds. Default: 600.
    public var sessionDuration = 600
    /// What the server is called in `GET /`.
    public var vendor = "Roost"

    /// The usual ones.
    public init() {}
}
