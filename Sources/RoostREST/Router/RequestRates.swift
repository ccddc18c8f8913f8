import RoostCrypto
import Synchronization

/// How many requests addresses and users have sent lately, and whether they may send another one.
///
/// Each has a count of requests that falls by its limit a minute, and a request is refused where it would rise above the limit: so many may
/// come at once, and after that as many as the limit lets through. A bounded number of addresses and users is remembered, those that
/// have sent something last; one that is forgotten begins at zero.
final class RequestRates: Sendable {
    /// Who sends requests.
    enum Sender {
        /// An address; of version 6, one network of 64 bits.
        case address(String)
        case user(String)
    }

    private struct Count {
        /// Requests that have not fallen off yet.
        var requests: Double
        let time: ContinuousClock.Instant
    }

    /// How many senders are remembered.
    static let mostSenders = 16_384

    private let key = SymmetricKey.random()
    private let counts = Mutex(RecentValues<AttemptKey, Count>(limit: mostSenders))

    /// How many senders are remembered now.
    var count: Int { counts.withLock { $0.count } }

    /// Counts a request.
    ///
    /// - Parameter limit: How many a minute the sender may send; `nil` for any number.
    /// - Throws: 429 with `Retry-After` where it is too many. A request that is refused does not count.
    func take(_ sender: Sender, limit: Int?, now: ContinuousClock.Instant = .now) throws {
        guard let limit else { return }
        let name =
            switch sender {
            case .address(let address): AttemptKey("address", ClientAddress.network(of: address), key: key)
            case .user(let user): AttemptKey("user", user, key: key)
            }
        let most = Double(max(1, limit))
        let seconds = counts.withLock { counts -> Double in
            var requests = 0.0
            if let count = counts[name] {
                requests = max(0, count.requests - most * Self.minutes(from: count.time, to: now))
            }
            guard requests + 1 > most else {
                counts[name] = Count(requests: requests + 1, time: now)
                return 0
            }
            return (requests + 1 - most) / most * 60
        }
        guard seconds > 0 else { return }
        throw HTTPFailure(
            429, "too_many_requests", "More than \(limit) requests in a minute. Try again later.",
            headers: ["Retry-After": String(max(1, Int(seconds.rounded(.up))))])
    }

    private static func minutes(
        from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) -> Double {
        let parts = start.duration(to: end).components
        return max(0, Double(parts.seconds) + Double(parts.attoseconds) / 1e18) / 60
    }
}
