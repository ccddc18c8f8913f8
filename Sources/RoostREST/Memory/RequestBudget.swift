import Synchronization

/// What all requests together may hold: of memory for bodies, for what is built from them, and for answers; or of room on disk.
///
/// It is reserved before it is taken. One owner, which is a user or, for requests without one, an address, has at most half of
/// the budget, so that the requests of the others succeed while one account asks for all it can get. A request that asks for more
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
