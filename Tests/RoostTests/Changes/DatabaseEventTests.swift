import Roost
import RoostFile
import Synchronization
import Testing

/// What indexes and the feeds of other protocols are built on.
@Suite struct DatabaseEventTests {
    private let files: TemporaryDatabase
    private let database: Database
    private let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        database = try files.open()
        notes = try database.collection("notes")
    }

    private final class Heard: Sendable {
        private let events = Mutex<[DatabaseEvent]>([])
        func append(_ event: DatabaseEvent) { events.withLock { $0.append(event) } }
        /// The events as text. They are told before the call that caused them returns.
        var all: [String] {
            events.withLock { events in
                events.map { event in
                    switch event {
                    case .changed(let name, _, let last, let purged):
                        "\(name) to \(last)" + purged.map { ", without \($0.id)" }.joined()
                    case .dropped(let name, _): "\(name) dropped"
                    case .refreshed: "refreshed"
                    case .keyChanged: "key"
                    case .closed: "closed"
                    }
                }
            }
        }
    }

    @Test func commitsPurgesAndDropsAreTold() throws {
        let heard = Heard()
        let observation = database.observeEvents { heard.append($0) }
        try notes.save(json: "{}", id: "a")
        try database.write { batch in
            for id in ["b", "c"] { try batch.save(json: "{}", id: id, in: notes) }
            try batch.purge("a", in: notes)
        }
        try database.drop(notes)
        try database.collection("notes").save(json: "{}", id: "a")
        #expect(
            heard.all == [
                "_default.notes to 1", "_default.notes to 3, without a", "_default.notes dropped",
                "_default.notes to 1",
            ])
        observation.cancel()
        try database.collection("notes").save(json: "{}", id: "b")
        #expect(heard.all.count == 4)
    }

    @Test func collectionsOfOneNameAreToldApart() throws {
        let numbers = Mutex<[UInt64]>([])
        let observation = database.observeEvents { event in
            if case .changed(_, let number, _, _) = event { numbers.withLock { $0.append(number) } }
        }
        try notes.save(json: "{}", id: "a")
        try database.drop(notes)
        try database.collection("notes").save(json: "{}", id: "a")
        #expect(Set(numbers.withLock { $0 }).count == 2)
        observation.cancel()
    }

    @Test func failedBatchesAreNotTold() throws {
        struct Stop: Error {}
        let heard = Heard()
        let observation = database.observeEvents { heard.append($0) }
        #expect(throws: Stop.self) {
            try database.write { batch in
                try batch.save(json: "{}", id: "a", in: notes)
                throw Stop()
            }
        }
        #expect(heard.all.isEmpty)
        observation.cancel()
    }

    @Test func keysAndTheEndAreTold() throws {
        let heard = Heard()
        let observation = database.observeEvents { heard.append($0) }
        let other = try files.open()
        try database.changeKey(to: .random())
        try other.close()
        #expect(heard.all == ["key"])
        try database.close()
        #expect(heard.all == ["key", "closed"])
        observation.cancel()
    }

    @Test func whatAnotherProcessCommittedIsTold() throws {
        // A core of its own, as another process has.
        let reader = try Database.open(
            files.path, options: DatabaseOptions(isReadOnly: true), environment: .system)
        let heard = Heard()
        let observation = reader.observeEvents { heard.append($0) }
        try notes.save(json: "{}", id: "a")
        #expect(heard.all.isEmpty)
        #expect(try reader.refresh())
        #expect(heard.all == ["refreshed"])
        observation.cancel()
    }
}
