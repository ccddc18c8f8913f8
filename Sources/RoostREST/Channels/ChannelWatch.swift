import Roost
import RoostBytes
import Synchronization

/// Wakes those who wait for what happens in channels of a database, each only for what concerns them.
///
/// The documents of a commit are looked at once, for all who wait, and where they stand is remembered for them (``RecentEntries``).
/// Where it is not known which listeners something concerns, all are woken: changes of access, purges, and many changes at once; so
/// they are by an error, which they meet themselves then.
final class ChannelWatch: Sendable {
    /// What was looked at already.
    private struct Place: Equatable {
        var sequence: UInt64
        var purges: UInt64
        /// On the ``AccessClock``.
        var time: UInt64

        init(_ snapshot: CollectionSnapshot) throws {
            sequence = snapshot.lastSequence
            purges = snapshot.purgeSequence
            time = try AccessClock.time(snapshot)
        }
    }

    private struct Listener {
        let channels: Set<String>
        let wake: @Sendable () -> Void
    }

    private struct State {
        var place: Place
        /// The entries up to `place`, since the first listener registered.
        var recent: RecentEntries
        var listeners: [UInt64: Listener] = [:]
        /// Those who listen to each channel.
        var numbers: [String: Set<UInt64>] = [:]
        var nextNumber: UInt64 = 0
        /// Polls while there are listeners.
        var task: Task<Void, Never>?
    }

    /// The number of sequences beyond which all listeners are woken.
    private static let mostChanges: UInt64 = 1_000

    private let served: ServedDatabase
    private let routing: ChannelRouting
    private let state: Mutex<State>

    /// A watch of what comes after `snapshot`.
    init(_ served: ServedDatabase, _ routing: ChannelRouting, since snapshot: CollectionSnapshot) throws {
        self.served = served
        self.routing = routing
        let recent = RecentEntries(start: snapshot.lastSequence)
        state = Mutex(State(place: try Place(snapshot), recent: recent))
    }

    /// Has `wake` called with each commit from now on that changes something in one of `channels`, and perhaps with others. Read
    /// once more after asking, since a commit may have come before.
    ///
    /// - Returns: What keeps `wake` registered.
    func listen(to channels: Set<String>, _ wake: @escaping @Sendable () -> Void) -> ObservationToken {
        let number = state.withLock { state in
            let number = state.nextNumber
            state.nextNumber += 1
            state.listeners[number] = Listener(channels: channels, wake: wake)
            for channel in channels { state.numbers[channel, default: []].insert(number) }
            if state.task == nil { state.task = Task { await self.run() } }
            return number
        }
        return ObservationToken { [self] in end(number) }
    }

    private func end(_ number: UInt64) {
        state.withLock { state in
            guard let listener = state.listeners.removeValue(forKey: number) else { return }
            for channel in listener.channels {
                state.numbers[channel]?.remove(number)
                if state.numbers[channel]?.isEmpty == true { state.numbers[channel] = nil }
            }
            guard state.listeners.isEmpty else { return }
            state.task?.cancel()
            state.task = nil
        }
    }

    private func run() async {
        let alarm = ChangeAlarm()
        while !Task.isCancelled {
            // Asked for first, so that no commit slips in between looking and waiting. Of a database that is closed nothing more comes.
            guard let registration = try? served.collection.onNextChange({ alarm.ring() }) else {
                wake(nil)
                return state.withLock { if !Task.isCancelled { $0.task = nil } }
            }
            defer { registration.cancel() }
            do {
                if try look() { continue }
            } catch {
                wake(nil)
            }
            _ = await alarm.wait(until: .now + .seconds(3_600))
        }
    }

    /// Wakes those whom it concerns what has come since; answers whether anything has.
    private func look() throws -> Bool {
        try routing.begin(served)
        let snapshot = try served.collection.snapshot()
        let now = try Place(snapshot)
        let before = state.withLock(\.place)
        guard before != now else { return false }
        let changed = try changes(snapshot, from: before, to: now)
        let isFirst = state.withLock { state in
            // Two may look at a time.
            guard state.place == before else { return false }
            state.place = now
            if let changed {
                for document in changed { state.recent.add(document.id, document.sequence, document.record) }
            } else {
                state.recent = RecentEntries(start: now.sequence)
            }
            return true
        }
        guard isFirst else { return true }
        if let changed, now.time == before.time {
            let places = changed.lazy.compactMap(\.record).flatMap(\.places)
            wake(Set(places.filter { $0.value.sequence > before.sequence }.map(\.key)))
        } else {
            wake(nil)
        }
        return true
    }

    /// The documents that have changed, and where they stand; `nil` where they are too many, or something was purged.
    private func changes(
        _ snapshot: CollectionSnapshot, from before: Place, to now: Place
    ) throws -> [(id: String, sequence: UInt64, record: RoutedDocument?)]? {
        guard now.purges == before.purges, now.sequence >= before.sequence,
            now.sequence - before.sequence <= Self.mostChanges
        else { return nil }
        var changed: [(id: String, sequence: UInt64, record: RoutedDocument?)] = []
        let cursor = try snapshot.changeCursor(since: before.sequence)
        while let change = try cursor.next() {
            let record = try RoutedDocument(record: snapshot.annotation(ChannelKey.document(change.id)))
            changed.append((change.id, change.sequence, record))
        }
        return changed
    }

    /// The first entries of each of some channels after a sequence, up to that of a snapshot; `nil` where they aren't remembered.
    func entries(
        of channels: Set<String>, after sequence: UInt64, in snapshot: CollectionSnapshot, limit: Int
    ) throws -> [(channel: String, entry: ChannelEntry)]? {
        let last = snapshot.lastSequence
        if state.withLock({ $0.place.sequence < last }) { _ = try look() }
        return state.withLock { state in
            guard state.place.sequence >= last, state.recent.start <= sequence else { return nil }
            return channels.flatMap { channel in
                state.recent.entries(of: channel, after: sequence, upTo: last, limit: limit)
                    .map { (channel, $0) }
            }
        }
    }

    /// Wakes those who listen to one of some channels; everybody where it is not known which.
    private func wake(_ channels: Set<String>?) {
        let listeners = state.withLock { state in
            guard let channels else { return Array(state.listeners.values) }
            let numbers = channels.reduce(into: Set()) { $0.formUnion(state.numbers[$1] ?? []) }
            return numbers.compactMap { state.listeners[$0] }
        }
        for listener in listeners { listener.wake() }
    }
}

/// The watches of the databases that have listeners.
final class ChannelWatches: Sendable {
    private struct Entry {
        weak var watch: ChannelWatch?
        /// Of the collection; another one of the same name has another.
        let epoch: UInt64
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The database's watch, of what comes after `snapshot` at the latest. It lasts as long as it is referenced.
    func watch(
        _ served: ServedDatabase, _ routing: ChannelRouting, since snapshot: CollectionSnapshot
    ) throws -> ChannelWatch {
        try entries.withLock { entries in
            if let entry = entries[served.name.text], entry.epoch == snapshot.epoch, let watch = entry.watch {
                return watch
            }
            let watch = try ChannelWatch(served, routing, since: snapshot)
            entries = entries.filter { $0.value.watch != nil }
            entries[served.name.text] = Entry(watch: watch, epoch: snapshot.epoch)
            return watch
        }
    }
}

/// The newest entries of all channels of a database, in memory, so that a thousand who wait for them don't each look for them in the
/// file.
struct RecentEntries {
    /// The number of documents that are remembered.
    private static let mostDocuments = 4_096

    /// A document that is here: when it changed last, and its entries by their channels.
    private struct Known {
        let sequence: UInt64
        var entries: [String: UInt64] = [:]
    }

    /// All entries with greater sequences are here.
    private(set) var start: UInt64
    /// In the order of their sequences.
    private var channels: [String: [ChannelEntry]] = [:]
    private var documents: [ByteKey: Known] = [:]
    /// The documents as they changed; those that changed again stand here again.
    private var order: [(sequence: UInt64, id: String)] = []
    private var orderStart = 0

    init(start: UInt64) { self.start = start }

    /// Notes where a document stands, and stood, that has changed at `sequence`, after all others.
    mutating func add(_ id: String, _ sequence: UInt64, _ record: RoutedDocument?) {
        remove(id)
        var known = Known(sequence: sequence)
        for (channel, place) in record?.places ?? [:] where place.sequence > start {
            let entry = ChannelEntry(id: id, place: place)
            let index = Self.index(after: place.sequence, in: channels[channel] ?? [])
            channels[channel, default: []].insert(entry, at: index)
            known.entries[channel] = place.sequence
        }
        documents[ByteKey(id)] = known
        order.append((sequence, id))
        while documents.count > Self.mostDocuments || order.count - orderStart > 2 * Self.mostDocuments {
            forgetOldest()
        }
    }

    private mutating func forgetOldest() {
        let oldest = order[orderStart]
        orderStart += 1
        if orderStart > Self.mostDocuments {
            order.removeSubrange(..<orderStart)
            orderStart = 0
        }
        guard documents[ByteKey(oldest.id)]?.sequence == oldest.sequence else { return }
        remove(oldest.id)
        start = oldest.sequence
    }

    private mutating func remove(_ id: String) {
        guard let known = documents.removeValue(forKey: ByteKey(id)) else { return }
        for (channel, sequence) in known.entries {
            guard var entries = channels.removeValue(forKey: channel) else { continue }
            let index = Self.index(after: sequence, in: entries) - 1
            if index >= 0, entries[index].sequence == sequence { entries.remove(at: index) }
            if !entries.isEmpty { channels[channel] = entries }
        }
    }

    /// The first entries of a channel after a sequence, up to another one.
    func entries(of channel: String, after sequence: UInt64, upTo last: UInt64, limit: Int) -> ArraySlice<
        ChannelEntry
    > {
        guard let entries = channels[channel] else { return [] }
        return entries[Self.index(after: sequence, in: entries)...].prefix(limit).prefix {
            $0.sequence <= last
        }
    }

    /// Where the entries begin whose sequences are greater. O(log n).
    private static func index(after sequence: UInt64, in entries: [ChannelEntry]) -> Int {
        entries.partitioningIndex { $0.sequence > sequence }
    }
}
