import RoostStorage
import Synchronization

/// What threads did to a store and saw of it, with an order of events that is not the store's own.
final class ConcurrentHistory: Sendable {
    /// A transaction that was acknowledged.
    struct Write {
        var began: Int
        var ended: Int
        /// What its commit was answered.
        var commit: UInt64
        /// What the transaction read before it wrote, by key.
        var read: [UInt64: [UInt8]]
        /// What it wrote; `nil` for a deletion.
        var wrote: [UInt64: [UInt8]?]
    }

    /// A snapshot and all that it showed.
    struct Reading {
        var began: Int
        var ended: Int
        var commit: UInt64
        var contents: [UInt64: [UInt8]]
    }

    private struct Events {
        var writes: [Write] = []
        var readings: [Reading] = []
    }

    private let clock = Atomic(0)
    private let events = Mutex(Events())

    /// A moment later than all that were asked for before.
    func now() -> Int { clock.add(1, ordering: .sequentiallyConsistent).newValue }

    func add(_ write: Write) { events.withLock { $0.writes.append(write) } }
    func add(_ reading: Reading) { events.withLock { $0.readings.append(reading) } }

    var counts: (writes: Int, readings: Int) { events.withLock { ($0.writes.count, $0.readings.count) } }

    /// The first thing that no order of the transactions, one after the other and true to real time, explains; `nil` when
    /// there is such an order. The commits' numbers name the one order that can be.
    func contradiction() -> String? {
        let events = events.withLock { $0 }
        let writes = events.writes.sorted { $0.commit < $1.commit }
        return contradiction(amongWrites: writes) ?? contradiction(events.readings, writes)
    }

    private func contradiction(amongWrites writes: [Write]) -> String? {
        var state: [UInt64: [UInt8]] = [:]
        var latestBeginning = 0
        for (index, write) in writes.enumerated() {
            if index > 0, writes[index - 1].commit == write.commit { return "two commits \(write.commit)" }
            // Whoever ended before another began must have the lower number.
            guard write.ended > latestBeginning else { return "commit \(write.commit) came too late" }
            latestBeginning = max(latestBeginning, write.began)
            for (key, value) in write.read where value != state[key] ?? [] {
                return "commit \(write.commit) read another value of \(key) than was there"
            }
            for (key, value) in write.wrote { state[key] = value }
        }
        return nil
    }

    private func contradiction(_ readings: [Reading], _ writes: [Write]) -> String? {
        var state: [UInt64: [UInt8]] = [:]
        var next = 0
        for reading in readings.sorted(by: { $0.commit < $1.commit }) {
            while next < writes.count, writes[next].commit <= reading.commit {
                for (key, value) in writes[next].wrote { state[key] = value }
                next += 1
            }
            guard reading.contents == state else {
                return "a snapshot of \(reading.commit) differs from the model"
            }
        }
        for reading in readings {
            if let missed = writes.first(where: { $0.ended < reading.began && $0.commit > reading.commit }) {
                return "a snapshot of \(reading.commit) was taken after \(missed.commit) was acknowledged"
            }
            if let early = writes.first(where: { $0.began > reading.ended && $0.commit <= reading.commit }) {
                return "a snapshot of \(reading.commit) shows \(early.commit), which had not begun"
            }
        }
        return nil
    }
}
