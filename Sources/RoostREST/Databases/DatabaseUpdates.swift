import Roost
import Synchronization

/// What happened to the databases of a directory as a whole: which were created, changed and deleted, for `_db_updates`.
///
/// Of each database the newest event of a kind counts, as in CouchDB. Events are kept in memory, from the first request for them on;
/// those of an earlier run of the server are not known, and a client that had them begins again with the databases that there are.
final class DatabaseUpdates: Sendable {
    enum Kind: String, Sendable {
        case created
        case updated
        case deleted
    }

    struct Event: Sendable {
        let sequence: UInt64
        let name: String
        let kind: Kind
    }

    private struct State {
        /// Whether events are wanted: until then none is noted.
        var isActive = false
        var last: UInt64 = 0
        /// The oldest first; with older ones of the same database and kind among them.
        var log: [Event] = []
        /// The newest sequence of each database and kind.
        var newest: [String: UInt64] = [:]
        var alarms: [ObjectIdentifier: ChangeAlarm] = [:]
    }

    /// How many events are kept.
    private static let mostKept = 100_000

    private let state = Mutex(State())

    /// Whether events are noted.
    var isActive: Bool { state.withLock(\.isActive) }

    /// The sequence of the newest event.
    var last: UInt64 { state.withLock(\.last) }

    /// Begins to note events, with the databases that there are; answers whether it did.
    func activate(_ names: [String]) -> Bool {
        state.withLock { state in
            guard !state.isActive else { return false }
            state.isActive = true
            for name in names { Self.note(.created, name, &state) }
            return true
        }
    }

    /// Notes an event and tells those who wait.
    func note(_ kind: Kind, _ name: String) {
        let alarms = state.withLock { state -> [ChangeAlarm] in
            guard state.isActive else { return [] }
            Self.note(kind, name, &state)
            return Array(state.alarms.values)
        }
        for alarm in alarms { alarm.ring() }
    }

    private static func key(_ kind: Kind, _ name: String) -> String { "\(kind.rawValue):\(name)" }

    private static func note(_ kind: Kind, _ name: String, _ state: inout State) {
        state.last += 1
        state.log.append(Event(sequence: state.last, name: name, kind: kind))
        state.newest[key(kind, name)] = state.last
        guard state.log.count > 2 * state.newest.count + 64 || state.newest.count > mostKept else { return }
        state.log = state.log.filter { state.newest[key($0.kind, $0.name)] == $0.sequence }
        guard state.log.count > mostKept else { return }
        for event in state.log.dropLast(mostKept / 2) { state.newest[key(event.kind, event.name)] = nil }
        state.log = state.log.suffix(mostKept / 2)
    }

    /// The events after `sequence`, the oldest first.
    func events(after sequence: UInt64, limit: Int) -> [Event] {
        state.withLock { state in
            var (low, high) = (0, state.log.count)
            while low < high {
                let middle = (low + high) / 2
                if state.log[middle].sequence > sequence { high = middle } else { low = middle + 1 }
            }
            var events: [Event] = []
            while low < state.log.count, events.count < limit {
                let event = state.log[low]
                if state.newest[Self.key(event.kind, event.name)] == event.sequence { events.append(event) }
                low += 1
            }
            return events
        }
    }

    /// Has `alarm` rung with each event, until ``forget(_:)``.
    func wake(_ alarm: ChangeAlarm) { state.withLock { $0.alarms[ObjectIdentifier(alarm)] = alarm } }

    func forget(_ alarm: ChangeAlarm) { state.withLock { $0.alarms[ObjectIdentifier(alarm)] = nil } }
}
