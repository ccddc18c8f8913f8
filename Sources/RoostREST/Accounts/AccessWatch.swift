import Roost
import Synchronization

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
    private let databases: DatabaseDirectory
    private let state = Mutex(State())

    init(_ accounts: Accounts, _ databases: DatabaseDirectory) {
        self.accounts = accounts
        self.databases = databases
    }

    /// Has `wake` called after changes from now on.
    ///
    /// - Returns: What keeps `wake` registered.
    func listen(to served: ServedDatabase, _ wake: @escaping @Sendable () -> Void) -> ObservationToken {
        // A database of the same name that was made later is another one.
        let key = "\(served.instanceStartTime) \(served.name.text)"
        let security = try? served.securityText()
        let moment = try? accounts.moment(databases)
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
        var marks = Marks(accounts: try? accounts.moment(databases))
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
