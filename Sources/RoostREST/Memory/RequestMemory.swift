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
