import RoostWire
import Synchronization

/// What one request holds of the budgets of all: memory, and room on disk for content that no document names yet. It is released with
/// the last copy of the request's context and with its answer; memory that is no longer needed can be released before.
final class RequestMemory: Sendable {
    private struct State {
        var held = 0
        /// The part of it that belongs to what is being sent.
        var answer = 0
        /// What is held of the room for attachments.
        var uploaded = 0
    }

    private let budget: RequestBudget
    private let uploads: RequestBudget
    private let user: UserContext
    private let peer: String
    private let state = Mutex(State())

    /// - Parameter peer: The address that the request came from.
    init(_ budget: RequestBudget, _ uploads: RequestBudget, _ user: UserContext, peer: String) {
        self.budget = budget
        self.uploads = uploads
        self.user = user
        self.peer = peer
    }

    deinit {
        release { $0.held }
        let uploaded = state.withLock { $0.uploaded }
        if uploaded > 0 { uploads.release(uploaded, of: owner) }
    }

    /// Made when it is needed: most requests reserve nothing.
    private var owner: RequestBudget.Owner { RequestBudget.Owner(user, peer: peer) }

    /// Returns to the budget what `body` has taken from the state.
    private func release(_ body: (inout State) -> Int) {
        let released = state.withLock { body(&$0) }
        if released > 0 { budget.release(released, of: owner) }
    }

    /// How many bytes the request holds.
    var held: Int { state.withLock { $0.held } }

    /// Reserves memory before it is taken, and waits for it where others hold it.
    ///
    /// - Throws: 413 when it is more than a request may hold, 503 when it does not become free in time.
    func reserve(_ bytes: Int) async throws {
        let held = held
        guard bytes <= budget.share - held, await budget.reserve(bytes, for: owner) else {
            throw budget.refusal(of: bytes, beyond: held)
        }
        state.withLock { $0.held += bytes }
    }

    /// Reserves room for a part of an attachment before it is stored, and waits for it where others hold it. Held until the request
    /// is over: by then a document names the content, or it has gone.
    ///
    /// - Throws: 413 and 503 as ``reserve(_:)`` does.
    func reserveUpload(_ bytes: Int) async throws {
        let held = state.withLock { $0.uploaded }
        guard bytes <= uploads.share - held, await uploads.reserve(bytes, for: owner) else {
            throw uploads.refusal(of: bytes, beyond: held)
        }
        state.withLock { $0.uploaded += bytes }
    }

    /// Reserves memory for a part of the answer, which ``releaseAnswer()`` releases. Does not wait: what is built while an answer
    /// is sent must not hold memory that is not reserved.
    ///
    /// - Throws: 413 and 503 as ``reserve(_:)`` does.
    func reserveAnswer(_ bytes: Int) throws {
        guard budget.reserveNow(bytes, for: owner) else { throw budget.refusal(of: bytes, beyond: held) }
        state.withLock { state in
            state.held += bytes
            state.answer += bytes
        }
    }

    /// Releases memory that the request no longer needs.
    func release(_ bytes: Int) {
        release { state in
            let released = min(max(0, bytes), state.held - state.answer)
            state.held -= released
            return released
        }
    }

    /// Releases what was reserved for the part of the answer that has been sent.
    func releaseAnswer() {
        release { state in
            defer { state.answer = 0 }
            state.held -= state.answer
            return state.answer
        }
    }
}

extension RequestMemory {
    /// What is left of a body, in memory that is reserved before it grows. It stays reserved: ``release(_:)`` takes the count of
    /// the bytes when they are no longer needed.
    ///
    /// - Parameters:
    ///   - limit: How much that may be, in bytes.
    ///   - length: How much it will be, where the client has stated it.
    ///   - ahead: How many times that length to reserve at once for what is made of it, so that no request waits for the rest
    ///     while it holds its text.
    /// - Throws: 413 when there is more; 503 when memory does not become free in time; what the stream throws.
    func collect(_ body: some BodyStream, limit: Int, length: Int?, ahead: Int = 0) async throws -> [UInt8] {
        let tooLarge = HTTPFailure(
            413, "too_large", "The request entity is too large: more than \(limit) bytes.")
        var all: [UInt8] = []
        var capacity = 0
        if let length {
            guard length <= limit else { throw tooLarge }
            try await reserve(length * (1 + ahead))
            all.reserveCapacity(length)
            capacity = length
        }
        while let piece = try await body.next() {
            guard piece.count <= limit - all.count else { throw tooLarge }
            let count = all.count + piece.count
            if count > capacity {
                // Both exist until the bytes have been copied.
                let larger = max(count, min(capacity * 2, limit))
                try await reserve(larger)
                all.reserveCapacity(larger)
                release(capacity)
                capacity = larger
            }
            all += piece
        }
        return all
    }
}

/// The body of an answer, and the memory of its request, which lasts as long. A piece that is longer than usual is counted until it
/// has been sent.
struct HeldBody: BodyStream {
    /// How long a piece may be that is not counted: one of each connection, as the buffers of its socket.
    static let uncounted = 64 << 10

    let body: any BodyStream
    let memory: RequestMemory

    func next() async throws -> [UInt8]? {
        memory.releaseAnswer()
        guard let piece = try await body.next() else { return nil }
        if piece.count > Self.uncounted { try memory.reserveAnswer(piece.count) }
        return piece
    }
}

/// What all requests together may hold: of memory for bodies, for what is built from them, and for answers; or of room on disk.
///
/// It is reserved before it is taken. One owner, which is a user or, for requests without one, an address, has at most half of
/// the budget, so that the requests of the others succeed while one account takes all it can get. A request that needs more
/// than is free waits its turn; it is answered with 503 and `Retry-After` when that takes too long, and with 413 when it would
/// not fit even alone.
final class RequestBudget: Sendable {
    /// What `Retry-After` says, in seconds.
    private static let retryAfter = 5

    /// Whose requests are counted together. Identity is bytes.
    struct Owner: Hashable, Sendable {
        private let bytes: [UInt8]

        /// - Parameter peer: The address that the request came from.
        init(_ user: UserContext, peer: String) { bytes = Array(user.owner(from: peer).utf8) }
    }

    private struct Waiter {
        let number: UInt64
        let owner: Owner
        let bytes: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var held = 0
        var owners: [Owner: Int] = [:]
        /// In the order of their arrival.
        var waiters: [Waiter] = []
        var number: UInt64 = 0

        func hasRoom(for bytes: Int, of owner: Owner, _ budget: RequestBudget) -> Bool {
            bytes <= budget.limit - held && bytes <= budget.share - (owners[owner] ?? 0)
        }

        mutating func add(_ bytes: Int, to owner: Owner) {
            held += bytes
            owners[owner, default: 0] += bytes
        }
    }

    /// The most that all requests may hold together.
    let limit: Int
    /// The most that the requests of one owner may hold, and so the most that one request may hold.
    var share: Int { limit / 2 }
    /// How long a request waits for memory before it is answered with 503.
    private let patience: Duration
    /// What it is a budget of.
    private let resource: String
    private let state = Mutex(State())

    init(limit: Int, of resource: String, patience: Duration = .seconds(5)) {
        self.resource = resource
        self.limit = max(limit, 2)
        self.patience = patience
    }

    /// How much is held now.
    var held: Int { state.withLock { $0.held } }

    /// How many requests wait for memory.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Reserves memory if there is room now.
    ///
    /// - Returns: Whether there was.
    func reserveNow(_ bytes: Int, for owner: Owner) -> Bool {
        state.withLock { state in
            guard state.hasRoom(for: bytes, of: owner, self) else { return false }
            state.add(bytes, to: owner)
            return true
        }
    }

    /// Reserves memory, and waits until there is room.
    ///
    /// - Returns: Whether there was in time.
    func reserve(_ bytes: Int, for owner: Owner) async -> Bool {
        if reserveNow(bytes, for: owner) { return true }
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let timer = Task { [patience] in
            try? await Task.sleep(for: patience)
            if !Task.isCancelled { giveUp(number) }
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.hasRoom(for: bytes, of: owner, self) {
                        state.add(bytes, to: owner)
                        return true
                    }
                    state.waiters.append(
                        Waiter(number: number, owner: owner, bytes: bytes, continuation: continuation))
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: UInt64) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }

    /// Returns memory, and lets requests go on that wait for it, those that came first before others.
    func release(_ bytes: Int, of owner: Owner) {
        guard bytes > 0 else { return }
        let served = state.withLock { state in
            state.held -= bytes
            let rest = (state.owners[owner] ?? 0) - bytes
            state.owners[owner] = rest > 0 ? rest : nil
            guard !state.waiters.isEmpty else { return [Waiter]() }
            var served: [Waiter] = []
            var left: [Waiter] = []
            for waiter in state.waiters {
                if state.hasRoom(for: waiter.bytes, of: waiter.owner, self) {
                    state.add(waiter.bytes, to: waiter.owner)
                    served.append(waiter)
                } else {
                    left.append(waiter)
                }
            }
            state.waiters = left
            return served
        }
        for waiter in served { waiter.continuation.resume(returning: true) }
    }

    /// How a request is answered that needs `bytes` more than it holds, `held`.
    func refusal(of bytes: Int, beyond held: Int) -> HTTPFailure {
        if bytes > share - held {
            return HTTPFailure(
                413, "too_large", "The request needs more \(resource) than one may take: \(share) bytes.")
        }
        return HTTPFailure(
            503, "service unavailable",
            "Other requests take the \(resource) that this one needs. Try again later.",
            headers: ["Retry-After": String(Self.retryAfter)])
    }
}

/// The memory that a JSON text takes while it is parsed.
struct JSONCost {
    /// What a value takes while the collection is open that it belongs to, with the copy that is made as the list grows.
    private static let perValue = 12

    private let length: Int
    /// At least as many as the text has. What separates values is counted in strings, too, which errs on the safe side.
    let values: Int

    init(_ text: [UInt8]) {
        length = text.count
        var values = 1
        for byte in text {
            let isOpening = byte | 0x20 == UInt8(ascii: "{")
            if isOpening || byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") { values &+= 1 }
        }
        self.values = values
    }

    /// An upper bound of the memory besides the text, in bytes: the body that is built, the copy in which it ends, and what is
    /// kept of the values of open collections.
    var parsing: Int { length * 2 + values * Self.perValue }
}
