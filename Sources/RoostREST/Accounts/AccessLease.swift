import Roost
import RoostWire
import Synchronization

/// What an answer was let in by: the account, the database's security object and, where the user sees no more than their channels, the
/// channels. An answer that is sent over a longer time consults it for each piece, so that it ends when any of these is withdrawn; a write
/// consults it once the body has come.
final class AccessLease: Sendable {
    /// What a user may do in a database.
    enum Level: Comparable {
        case none
        case member
        case admin

        init(_ user: UserContext, _ security: Security) {
            self = security.isAdmin(user) ? .admin : security.isMember(user) ? .member : .none
        }
    }

    /// What was found in order when it was looked at last. As long as it is the same, the lease holds.
    private struct Known {
        var accounts: AccountsMoment?
        var security: [UInt8]?
        /// On the ``AccessClock``.
        var time: UInt64?
    }

    private let router: Router
    private let served: ServedDatabase
    private let user: UserContext
    private let level: Level
    /// When the request came, on the ``AccessClock``; `nil` where no channel can be withdrawn.
    private let start: UInt64?
    private let known: Mutex<Known>

    /// - Parameter dependsOnChannels: Whether the answer shows what the user's channels held when it began. A feed reads the channels
    ///   again for each piece and reports what is withdrawn.
    init(_ target: DatabaseContext, dependsOnChannels: Bool) {
        router = target.context.router
        served = target.served
        user = target.user
        level = Level(target.user, target.security)
        start = dependsOnChannels ? target.accessTime : nil
        known = Mutex(Known(time: start))
    }

    /// - Throws: 401 or 403 when access was withdrawn; an error of the database, such as `closed` when it was deleted.
    func check() throws {
        let accounts = try router.accounts.moment()
        // Of `_users` no security object decides; see ``UsersDatabase/security(_:)``.
        let security = served.name.base == "_users" ? nil : try served.securityText()
        let time = try start.map { _ in try AccessClock.time(served.collection.snapshot()) }
        let old = known.withLock { $0 }
        if old.accounts != accounts { try checkAccount() }
        if let security, old.security != security { try checkSecurity() }
        if let start, let time, old.time != time { try checkChannels(since: start) }
        known.withLock { $0 = Known(accounts: accounts, security: security, time: time) }
    }

    private func checkAccount() throws {
        guard try router.accounts.holds(user) else { throw Self.changedAccount }
    }

    static let changedAccount = HTTPFailure.unauthorized("The account has changed. Log in again.")

    private func checkSecurity() throws {
        guard Level(user, try served.security()) >= level else {
            throw Security.refusal(user, "You are not allowed to access this db any more.")
        }
    }

    private func checkChannels(since start: UInt64) throws {
        let snapshot = try served.collection.snapshot()
        let access = try ChannelAccess(user) { try snapshot.annotation($0) }
        guard access.channels(changedSince: start).isSubset(of: access.channels) else {
            throw HTTPFailure.forbidden("A channel was withdrawn.")
        }
    }

    /// Has `wake` called, within a fraction of a second, after each change that may end the lease. Check once more after asking, since
    /// a change may have come before.
    ///
    /// - Returns: What keeps `wake` registered.
    func whenChanged(_ wake: @escaping @Sendable () -> Void) -> ObservationToken {
        router.accessWatch.listen(to: served, wake)
    }
}

/// A body that ends with an error once its lease has ended.
struct LeasedBody: BodyStream {
    let body: any BodyStream
    let lease: AccessLease

    func next() async throws -> [UInt8]? {
        guard let piece = try await body.next() else { return nil }
        try lease.check()
        return piece
    }
}

extension DatabaseContext {
    /// The answer, which ends when the user's access does. What is endless sees to that itself.
    func leased(_ response: HTTPResponse) -> HTTPResponse {
        guard case .stream(let body, let length) = response.body, !response.isEndless else { return response }
        var response = response
        let lease = AccessLease(self, dependsOnChannels: isLimited)
        response.body = .stream(LeasedBody(body: body, lease: lease), length: length)
        return response
    }
}

/// Wakes waiting feeds when what lets them in may have changed: accounts, or the security object of their database, also by another
/// process or by a replication. While any feed waits, it compares these every quarter of a second, once for all feeds.
final class AccessWatch: Sendable {
    private struct Listener {
        let key: String
        let served: ServedDatabase
        let wake: @Sendable () -> Void
    }

    /// What lets users in.
    private struct Marks {
        var accounts: AccountsMoment?
        /// The security objects, by database; `nil` for one that can't be read, such as a deleted one.
        var security: [String: [UInt8]?] = [:]
    }

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var nextNumber: UInt64 = 0
        var marks = Marks()
        var task: Task<Void, Never>?
    }

    private static let interval = Duration.milliseconds(250)

    private let accounts: Accounts
    private let state = Mutex(State())

    init(_ accounts: Accounts) { self.accounts = accounts }

    /// Has `wake` called after changes from now on.
    ///
    /// - Returns: What keeps `wake` registered.
    func listen(to served: ServedDatabase, _ wake: @escaping @Sendable () -> Void) -> ObservationToken {
        // A database of the same name that was made later is another one.
        let key = "\(served.instanceStartTime) \(served.name.text)"
        let security = try? served.securityText()
        let moment = try? accounts.moment()
        let number = state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            if state.listeners.isEmpty { state.marks = Marks(accounts: moment) }
            if state.marks.security[key] == nil { state.marks.security[key] = .some(security) }
            state.listeners[number] = Listener(key: key, served: served, wake: wake)
            if state.task == nil { state.task = Task { await self.run() } }
            return number
        }
        return ObservationToken { [self] in end(number) }
    }

    private func end(_ number: UInt64) {
        state.withLock { state in
            guard state.listeners.removeValue(forKey: number) != nil, state.listeners.isEmpty else { return }
            state.task?.cancel()
            state.task = nil
        }
    }

    private func run() async {
        while (try? await Task.sleep(for: Self.interval)) != nil { look() }
    }

    /// Wakes the listeners that a change since the last call may concern.
    func look() {
        let listeners = state.withLock { Array($0.listeners.values) }
        var marks = Marks(accounts: try? accounts.moment())
        for listener in listeners where marks.security[listener.key] == nil {
            marks.security[listener.key] = .some(try? listener.served.securityText())
        }
        let old = state.withLock { state in
            defer { state.marks = marks }
            return state.marks
        }
        for listener in listeners
        where old.accounts != marks.accounts || old.security[listener.key] != marks.security[listener.key] {
            listener.wake()
        }
    }
}
