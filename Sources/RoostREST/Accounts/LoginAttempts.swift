import RoostCrypto

/// Who tries to log in, as a number of fixed size that only this process can compute.
struct AttemptKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// - Parameter parts: What tells it from others.
    init(_ parts: String..., key: SymmetricKey) {
        // SipHash, which is made for this: each request with a password is looked up, and HMAC takes a microsecond.
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

    /// Whether somebody has logged in by that name from that address.
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
