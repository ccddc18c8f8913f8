import Fleece
import Roost
import RoostBLIP
import RoostBytes
import RoostWire

/// One connection to a server of Couchbase Lite's protocol, for one collection: sends requests, and keeps what the server sends until
/// the peer takes it.
///
/// When the connection fails, every task that waits for it gets the error. It is not reopened; the next try opens another.
actor CouchbaseLink {
    /// A revision by its document and its name there.
    struct Key: Hashable, Sendable {
        let document: ByteKey
        let revision: String

        init(_ document: String, _ revision: String) {
            self.document = ByteKey(document)
            self.revision = revision
        }
    }

    /// A line of a list of changes.
    struct Row: Sendable {
        /// JSON text.
        let sequence: String
        let id: String
        let revision: String
        /// Whether the document has left what the client may see; its content is not sent then.
        let isRemoved: Bool

        var key: Key { Key(id, revision) }
    }

    /// What has come of the changes.
    enum List: Sendable {
        /// A list that the server waits for the answer to.
        case offer(Offer)
        /// All changes have been sent.
        case end
    }

    /// A list of changes that waits for its answer.
    struct Offer: Sendable {
        let rows: [Row]
        let answer: Promise<BLIPMessage>
    }

    /// What has come of a revision that was wanted.
    struct Arrival: Sendable {
        let id: String
        let revision: String
        let content: Result<Content, RemoteError>
        /// What the server is answered with: `nil` once it is stored, or what is wrong with it.
        let answer: Promise<RemoteError?>

        struct Content: Sendable {
            let history: String?
            let isDeleted: Bool
            let body: [UInt8]
        }
    }

    /// The most bytes that are taken of a list of changes, and of one revision.
    static let longestList = 8 << 20
    static let longestRevision = 64 << 20
    /// How many revisions of a history the server is to send.
    private static let longestHistory = 1_000

    let server: CouchbaseServer
    private let collection: String
    let local: DocumentCollection
    private let socket: any OpenedWebSocket
    let blip: BLIPSession
    let memory: LinkMemory
    private var running: Task<Void, Never>?
    private var watch: Task<Void, Never>?
    /// The index by which messages name the collection; `nil` for a server that knows no collections.
    private var index: Int?
    var failure: (any Error)?

    // The server's requests that change what is known of the changes, in their order.
    private var placed: [UInt64: List?] = [:]
    private var nextNumber: UInt64 = 1

    private var lists: [List] = []
    private var listReader: Promise<Void>?
    /// Whether a subscription is open that has lists for ``nextList()``.
    private var isSubscribed = false
    private var isContinuous = false
    private var hasReachedEnd = false
    private var lookUp: LookUp?

    /// The revisions that were requested and have not arrived.
    var expected: Set<Key> = []
    /// The server's lists and revisions that have no answer yet.
    var openLists = 0
    var openRevisions = 0
    private var arrived: [Arrival] = []
    private var arrivalReader: Promise<Void>?

    /// The blobs of the revisions that are being sent, by document.
    var sent: [ByteKey: Set<ByteKey>] = [:]

    /// A subscription to the present revisions of some documents, whose lists are answered at once.
    private struct LookUp {
        /// The revisions that are wanted, and what is known of their documents.
        let wanted: [Key: [String]]
        var rows: [Row] = []
        let result = Promise<[Row]>()
    }

    private init(
        _ server: CouchbaseServer, _ collection: String, _ local: DocumentCollection,
        _ socket: any OpenedWebSocket
    ) {
        (self.server, self.collection, self.local, self.socket) = (server, collection, local, socket)
        memory = LinkMemory()
        var limits = BLIPSession.Limits()
        limits.connection.frame = CouchbaseServer.longestFrame
        limits.connection.piece = 1 << 20
        limits.longestSilence = .seconds(server.idleSeconds)
        blip = BLIPSession(socket, limits: limits, memory: memory)
    }

    /// Connects, and finds the collection.
    ///
    /// - Parameter collection: Its path there: `_default`, or `scope.name`.
    /// - Throws: ``TransportError``, ``RemoteError``, `CancellationError`.
    static func open(
        _ server: CouchbaseServer, _ collection: String, for local: DocumentCollection
    ) async throws -> CouchbaseLink {
        let link = CouchbaseLink(server, collection, local, try await server.connect())
        do {
            try await link.begin()
            return link
        } catch {
            await link.close()
            throw error
        }
    }

    private func begin() async throws {
        let (blip, socket, server) = (blip, socket, server)
        running = Task { [weak self] in
            let close = await blip.run { [weak self] request in
                await self?.answer(request) ?? .failure(BLIPMessage(errorIn: "BLIP", code: 503, "It ends."))
            }
            await self?.fail(server.error(close))
            await socket.close(close)
        }
        watch = Task { [weak self] in
            let interval = Duration.seconds(max(server.idleSeconds / 4, 0.01))
            while (try? await Task.sleep(for: interval)) != nil { await self?.checkSilence() }
        }
        let asked = DocumentValue.dictionary([
            "checkpoint_ids": .array([.string("roost")]), "collections": .array([.string(collection)]),
        ])
        let body = Array(try asked.json().utf8)
        do {
            let reply = try await request(BLIPMessage(["Profile": "getCollections"], body: body))
            guard let found = try? FleeceDocument(json: reply.body).root.array, found.count == 1 else {
                throw malformed("it returned other collections than were requested")
            }
            guard found[0].kind == .dictionary else {
                throw RemoteError(
                    status: 404, "not_found", "There is no collection \(collection).", server.label)
            }
            index = 0
        } catch let error as RemoteError where error.status == 404 && error.kind != "not_found" {
            // A server of before there were collections has the default one.
            guard collection == "_default" else { throw error }
        }
    }

    /// Ends the connection in order.
    func close() async {
        blip.close(.normal)
        fail(TransportError(.interrupted, "\(server.label): the connection was closed."))
        await running?.value
    }

    /// Why the connection is of no use any more; `nil` while it is.
    var ending: (any Error)? { failure }

    func fail(_ error: any Error) {
        guard failure == nil else { return }
        failure = error
        watch?.cancel()
        lookUp?.result.keep(.failure(error))
        for case .offer(let offer) in lists { offer.answer.keep(.failure(error)) }
        for arrival in arrived { arrival.answer.keep(.failure(error)) }
        listReader.take()?.keep()
        arrivalReader.take()?.keep()
    }

    func malformed(_ reason: String) -> TransportError {
        TransportError(.malformed, "\(server.label) does not keep to the protocol: \(reason).")
    }

    /// Fails a connection on which something is due and nothing comes.
    private func checkSilence() async {
        // The server may wait for answers before it sends more.
        let owesList = openLists == 0 && (lookUp != nil || (isSubscribed && !hasReachedEnd && lists.isEmpty))
        guard openRevisions == 0, owesList || !expected.isEmpty,
            await blip.silence > .seconds(server.idleSeconds)
        else { return }
        fail(
            TransportError(
                .timedOut, "\(server.label) did not send within \(server.idleSeconds) s what was requested."))
        blip.close(WebSocketClose(1008, "Something that was requested did not arrive."))
    }

    // MARK: Requests

    /// A request about the collection.
    func message(_ profile: String, _ properties: BLIPProperties = [:], body: [UInt8] = []) -> BLIPMessage {
        var properties = properties
        properties["Profile"] = profile
        if let index { properties["collection"] = String(index) }
        return BLIPMessage(properties, body: body)
    }

    /// Sends a request about the collection and returns the reply.
    ///
    /// - Throws: ``RemoteError`` for a reply that reports an error; what ended the connection.
    func ask(
        _ profile: String, _ properties: BLIPProperties = [:], body: [UInt8] = [],
        options: BLIPConnection.Options = []
    ) async throws -> BLIPMessage {
        try await request(message(profile, properties, body: body), options)
    }

    private func request(
        _ message: BLIPMessage, _ options: BLIPConnection.Options = []
    ) async throws -> BLIPMessage {
        let blip = blip
        let (reply, isError) = try await whileOpen {
            try await blip.reply(to: message, options: options, limit: Self.longestList)
        }
        guard !isError else { throw RemoteError(reply, server.label) }
        return reply
    }

    /// A task that is cancelled while it waits for the server ends the connection.
    private func whileOpen<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
        if let failure { throw failure }
        let blip = blip
        do {
            return try await withTaskCancellationHandler {
                try await body()
            } onCancel: {
                blip.close(.normal)
            }
        } catch let close as WebSocketClose {
            try Task.checkCancellation()
            throw failure ?? server.error(close)
        } catch let error as WireError {
            throw RemoteError(status: error.status, "malformed_answer", "\(error)", server.label)
        }
    }

    /// The content of a blob, of a revision that has not been answered.
    func content(_ digest: String, of id: String) async throws -> any BodyStream {
        let asked = message("getAttachment", ["digest": digest, "docID": id])
        let blip = blip
        let response = try await whileOpen { try await blip.response(to: asked) }
        guard !response.isError else {
            let body = try? await response.body.collect(limit: 64 << 10)
            await blip.discard(response)
            throw RemoteError(BLIPMessage(response.properties, body: body ?? []), server.label)
        }
        return ContentBody(blip, response, server)
    }

    // MARK: Changes

    /// Asks for changes. Their lists come by ``nextList()``.
    func subscribe(_ properties: BLIPProperties, body: [UInt8]) async throws {
        if let lookUp { _ = try await lookUp.result.value() }
        hasReachedEnd = false
        isContinuous = properties.flag("continuous")
        isSubscribed = true
        _ = try await ask("subChanges", properties, body: body)
    }

    /// The next list of changes, or their end.
    func nextList() async throws -> List {
        try await waitForList()
        return lists.removeFirst()
    }

    /// Waits until there is a list with changes in it.
    func waitForChanges() async throws {
        while true {
            try await waitForList()
            guard case .end? = lists.first else { return }
            lists.removeFirst()
        }
    }

    private func waitForList() async throws {
        while lists.isEmpty {
            if let failure { throw failure }
            let promise = Promise<Void>()
            listReader = promise
            try await promise.value()
        }
    }

    /// Answers a list of changes.
    ///
    /// - Parameter wanted: The revisions that are wanted, and for each the revisions of its document that are known.
    func answer(_ offer: Offer, wanting wanted: [Key: [String]]) {
        let answers = offer.rows.map { row -> DocumentValue in
            guard let known = wanted[row.key], expected.insert(row.key).inserted else { return .integer(0) }
            return .array(known.map { .string($0) })
        }
        let properties: BLIPProperties = ["blobs": "true", "maxHistory": String(Self.longestHistory)]
        let body = Array("\(DocumentValue.array(answers))".utf8)
        offer.answer.keep(.success(BLIPMessage(properties, body: body)))
    }

    /// Asks for the present revisions of some documents.
    ///
    /// - Parameter wanted: Those of them that are to be sent, with what is known of their documents. They come as those of lists do.
    /// - Returns: What is to be waited for: the revisions, once all lists have come.
    @discardableResult
    func lookUp(_ ids: [String], _ properties: BLIPProperties, wanting wanted: [Key: [String]] = [:])
        async throws -> Promise<[Row]>
    {
        if let lookUp { _ = try await lookUp.result.value() }
        let started = LookUp(wanted: wanted)
        lookUp = started
        let body = DocumentValue.dictionary(["docIDs": .array(ids.map { .string($0) })])
        _ = try await ask("subChanges", properties, body: Array(try body.json().utf8))
        return started.result
    }

    /// Puts what a request of the server means for the changes in its place among the others.
    func place(_ list: List?, at number: UInt64) {
        placed[number] = .some(list)
        while let next = placed.removeValue(forKey: nextNumber) {
            nextNumber += 1
            if let next { take(next) }
        }
    }

    private func take(_ list: List) {
        guard var lookUp else {
            guard isSubscribed else {
                if case .offer(let offer) = list { answer(offer, wanting: [:]) }
                return
            }
            if case .end = list {
                hasReachedEnd = true
                isSubscribed = isContinuous
            }
            lists.append(list)
            listReader.take()?.keep()
            return
        }
        switch list {
        case .offer(let offer):
            lookUp.rows += offer.rows
            self.lookUp = lookUp
            answer(offer, wanting: lookUp.wanted)
        case .end:
            self.lookUp = nil
            // What is not among the present revisions any more does not come.
            let present = Set(lookUp.rows.map(\.key))
            for key in lookUp.wanted.keys where !present.contains(key) {
                arrive(
                    Arrival(
                        id: key.document.text, revision: key.revision,
                        content: .failure(absence("It is no present revision any more.")), answer: Promise()))
            }
            lookUp.result.keep(.success(lookUp.rows))
        }
    }

    /// What has come of the revisions that were wanted, one at least.
    func arrivals() async throws -> [Arrival] {
        while arrived.isEmpty {
            if let failure { throw failure }
            let promise = Promise<Void>()
            arrivalReader = promise
            try await promise.value()
        }
        defer { arrived = [] }
        return arrived
    }

    func arrive(_ arrival: Arrival) {
        arrived.append(arrival)
        arrivalReader.take()?.keep()
    }
}
