import Dispatch
import Fleece
import Foundation
import RoostCrypto
import Synchronization

/// What is stored of a password: enough to recognise it.
struct PasswordRecord: Sendable {
    let derivedKey: [UInt8]
    let salt: [UInt8]
    let rounds: Int
    let usesSHA256: Bool

    /// The members of an account that hold it; the server alone makes them of a password.
    static let names = [
        "password_scheme", "pbkdf2_prf", "salt", "iterations", "derived_key", "password_sha", "simple",
    ]
    /// The rounds that a stored record may ask for, where those of new passwords are fewer.
    static let mostRounds = 600_000
    private static let longestSalt = 256
    private static let shortestKey = 16

    /// The record of a new password, with a random salt.
    init(_ password: String, rounds: Int) {
        salt = Array(RandomText.hexadecimal(bytes: 16).utf8)
        self.rounds = max(1, rounds)
        usesSHA256 = true
        derivedKey = Self.derive(password, salt, rounds: self.rounds, byteCount: 32, usesSHA256: true)
    }

    /// The record of a document of `_users`; `nil` where it has none, or one that would cost more than the server gives.
    ///
    /// - Parameter mostRounds: The rounds that are permitted.
    init?(_ user: FleeceDictionary, mostRounds: Int) {
        guard user["password_scheme"].string == "pbkdf2", let rounds = user["iterations"].int,
            (1...max(1, mostRounds)).contains(rounds), let salt = user["salt"].string,
            salt.utf8.count <= Self.longestSalt
        else { return nil }
        switch user["pbkdf2_prf"].string {
        case "sha256": usesSHA256 = true
        case "sha", nil: usesSHA256 = false
        default: return nil
        }
        // More than one digest's length would cost the rounds once for each.
        let longestKey = usesSHA256 ? 32 : 20
        guard let text = user["derived_key"].string, text.utf8.count <= 2 * longestKey,
            let key = RandomText.bytes(text), key.count >= Self.shortestKey
        else { return nil }
        derivedKey = key
        self.salt = Array(salt.utf8)
        self.rounds = rounds
    }

    /// The members that a document of `_users` keeps, as CouchDB names them.
    var members: [(String, JSON)] {
        [
            ("password_scheme", "pbkdf2"), ("pbkdf2_prf", .string(usesSHA256 ? "sha256" : "sha")),
            ("salt", .string(String(decoding: salt, as: UTF8.self))), ("iterations", .number(rounds)),
            ("derived_key", .string(RandomText.text(derivedKey))),
        ]
    }

    /// Whether `record` is that of this password. With `rounds` or fewer in the record, or with no record at all, it takes the time of
    /// that number of rounds, so that the time says nothing about the account.
    static func matches(_ password: String, _ record: PasswordRecord?, rounds: Int) -> Bool {
        var isRight = false
        if let record {
            let key = derive(
                password, record.salt, rounds: record.rounds, byteCount: record.derivedKey.count,
                usesSHA256: record.usesSHA256)
            isRight = constantTimeEqual(key, record.derivedKey)
        }
        let rest = rounds - (record?.rounds ?? 0)
        if rest > 0 {
            _ = derive(
                password, record?.salt ?? Array(repeating: 0, count: 32), rounds: rest, byteCount: 32,
                usesSHA256: true)
        }
        return isRight
    }

    /// Computes for long, on purpose.
    private static func derive(
        _ password: String, _ salt: [UInt8], rounds: Int, byteCount: Int, usesSHA256: Bool
    ) -> [UInt8] {
        let secret = SymmetricKey(Array(password.utf8))
        let key =
            usesSHA256
            ? PBKDF2.deriveKeyWithSHA256(password: secret, salt: salt, rounds: rounds, byteCount: byteCount)
            : PBKDF2.deriveKeyWithSHA1(password: secret, salt: salt, rounds: rounds, byteCount: byteCount)
        return unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }
    }
}

/// The threads on which keys are derived from passwords: few, so that guessing takes no more of the machine, and in turns between
/// those who ask, so that one of them waits behind the own requests and not the others'.
final class PasswordWork: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        /// The jobs that wait, by lane.
        var lanes: [AttemptKey: [Job]] = [:]
        /// The lanes that have something waiting, in the order of their turns; those before `next` have had theirs.
        var turns: [AttemptKey] = []
        var next = 0
        var waiting = 0
        var idle: [DispatchQueue]
    }

    /// The requests of one lane that wait, at most.
    private static let mostInLane = 16
    /// The requests that wait, at most.
    static let mostWaiting = 1_024

    private let state: Mutex<State>
    /// How many derivations run at a time.
    let threads: Int

    /// - Parameter threads: How many derivations run at a time.
    init(threads: Int = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)) {
        self.threads = threads
        state = Mutex(State(idle: (1...threads).map { DispatchQueue(label: "roost.passwords.\($0)") }))
    }

    /// The requests that wait.
    var waitingCount: Int { state.withLock { $0.waiting } }
    /// The threads that have nothing to do.
    var idleCount: Int { state.withLock { $0.idle.count } }

    /// Runs `body` on one of the threads, when its lane has its turn.
    ///
    /// - Throws: 503 when too many wait; what `body` throws.
    func run<R: Sendable>(
        _ lane: AttemptKey, _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            if !enqueue(lane, { continuation.resume(with: Result { try body() }) }) {
                continuation.resume(throwing: Self.busy)
            }
        }
    }

    private static let busy = HTTPFailure(
        503, "service unavailable", "Too many passwords are being checked. Try again in a few seconds.",
        headers: ["Retry-After": "5"])

    private func enqueue(_ lane: AttemptKey, _ job: @escaping Job) -> Bool {
        let (isTaken, worker): (Bool, DispatchQueue?) = state.withLock { state in
            if let worker = state.idle.popLast() { return (true, worker) }
            let count = state.lanes[lane]?.count ?? 0
            guard count < Self.mostInLane, state.waiting < Self.mostWaiting else { return (false, nil) }
            if count == 0 { state.turns.append(lane) }
            state.lanes[lane, default: []].append(job)
            state.waiting += 1
            return (true, nil)
        }
        worker?.async {
            job()
            while let next = self.next(worker) { next() }
        }
        return isTaken
    }

    /// The first job of the lane whose turn it is; `nil` when there is none, and then `worker` is idle.
    private func next(_ worker: DispatchQueue?) -> Job? {
        state.withLock { state in
            guard state.next < state.turns.count else {
                state.turns = []
                state.next = 0
                if let worker { state.idle.append(worker) }
                return nil
            }
            let lane = state.turns[state.next]
            state.next += 1
            if state.next == Self.mostWaiting {
                state.turns.removeFirst(state.next)
                state.next = 0
            }
            // A lane has a turn while something waits in it.
            var jobs = state.lanes.removeValue(forKey: lane) ?? []
            let job = jobs.removeFirst()
            state.waiting -= 1
            if !jobs.isEmpty {
                state.lanes[lane] = jobs
                state.turns.append(lane)
            }
            return job
        }
    }
}

/// Who tries to log in, as a number of fixed size that only this process can compute.
struct AttemptKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// - Parameter parts: What distinguishes it from others.
    init(_ parts: String..., key: SymmetricKey) {
        // SipHash: each request with a password is looked up, and HMAC takes a microsecond.
        var hasher = Hasher()
        unsafe key.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        for part in parts {
            var part = part
            part.withUTF8 { part in
                hasher.combine(part.count)
                unsafe hasher.combine(bytes: UnsafeRawBufferPointer(part))
            }
        }
        high = UInt64(truncatingIfNeeded: hasher.finalize())
        hasher.combine(high)
        low = UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

/// Values of which a bounded number is remembered, those that were set last.
///
/// Two generations: when the younger is full it becomes the older, and what that held is forgotten. Every access is O(1).
struct RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    private let half: Int

    /// - Parameter limit: How many are remembered at most.
    init(limit: Int) { half = max(1, limit / 2) }

    var count: Int { young.count + old.count }

    subscript(key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            old[key] = nil
            young[key] = newValue
            guard young.count > half else { return }
            old = young
            young = [:]
        }
    }
}

/// Counts wrong passwords, those that are still being checked among them, and refuses more of them.
///
/// A name is locked for an address, never for all. An address that tries many names may go on with those under which it has logged in
/// before, and with no others.
struct LoginAttempts: Sendable {
    private struct Count {
        var failures = 0
        /// In seconds since 1970.
        var until = 0
    }

    private static let mostFailures = 5
    private static let mostFailuresOfAddress = 50
    private static let lockSeconds = 300
    static let mostEntries = 4_096

    private var pairs = RecentValues<AttemptKey, Count>(limit: mostEntries)
    private var addresses = RecentValues<AttemptKey, Count>(limit: mostEntries)
    /// The pairs of names and addresses that have logged in.
    private var proven = RecentValues<AttemptKey, Void>(limit: mostEntries)
    /// How many passwords of a pair are being checked.
    private var pending: [AttemptKey: Int] = [:]

    /// How many are remembered.
    var count: Int { pairs.count + addresses.count + proven.count + pending.count }

    /// Whether there was a log-in by that name from that address.
    func isProven(_ pair: AttemptKey) -> Bool { proven[pair] != nil }

    /// - Throws: 403 after too many wrong passwords.
    func check(_ pair: AttemptKey, _ address: AttemptKey, _ now: Int) throws {
        let count = pairs[pair].flatMap { $0.until > now ? $0 : nil } ?? Count()
        if count.failures >= Self.mostFailures { throw Self.refusal(count.until - now) }
        if count.failures + (pending[pair] ?? 0) >= Self.mostFailures { throw Self.refusal(1) }
        if !isProven(pair), let count = addresses[address], count.until > now,
            count.failures >= Self.mostFailuresOfAddress
        {
            throw Self.refusal(count.until - now)
        }
    }

    /// A password is about to be checked.
    mutating func begin(_ pair: AttemptKey) { pending[pair, default: 0] += 1 }

    /// A password has been checked; `isRight` is `nil` where that failed.
    mutating func end(_ pair: AttemptKey, _ address: AttemptKey, _ now: Int, isRight: Bool?) {
        let left = (pending[pair] ?? 1) - 1
        pending[pair] = left > 0 ? left : nil
        switch isRight {
        case true?:
            pairs[pair] = nil
            proven[pair] = ()
        case false?:
            pairs[pair] = Self.failed(pairs[pair], now, until: now + Self.lockSeconds)
            // Within a period that begins with the first: what many people mistype in hours locks none of them out.
            addresses[address] = Self.failed(addresses[address], now, until: nil)
        case nil: break
        }
    }

    private static func failed(_ count: Count?, _ now: Int, until: Int?) -> Count {
        var count = count.flatMap { $0.until > now ? $0 : nil } ?? Count(until: now + lockSeconds)
        count.failures += 1
        count.until = until ?? count.until
        return count
    }

    private static func refusal(_ seconds: Int) -> HTTPFailure {
        .forbidden("Too many wrong passwords. Try again in \(max(1, seconds)) seconds.")
    }
}
