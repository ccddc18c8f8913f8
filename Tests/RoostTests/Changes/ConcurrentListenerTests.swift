import Roost
import Synchronization
import Testing

/// Listeners beside tasks that write and a compaction: they hear of what was acknowledged and of nothing else, in one
/// order, and can read it when they hear of it.
@Suite struct ConcurrentListenerTests {
    private static let writers = 4
    private static let saves = 40

    /// What was saved, and what one listener heard.
    private final class Log: Sendable {
        private let changes = Mutex<[Entry]>([])
        private let unreadable = Mutex<[String]>([])

        struct Entry: Hashable {
            var id: String
            var sequence: UInt64
            var revision: RevisionID
        }

        func append(_ entries: [Entry]) { changes.withLock { $0 += entries } }
        func complain(_ what: String) { unreadable.withLock { $0.append(what) } }
        var all: [Entry] { changes.withLock { $0 } }
        var complaints: [String] { unreadable.withLock { $0 } }
        /// The last entry of each document.
        var last: [String: Entry] {
            Dictionary(all.map { ($0.id, $0) }) { $0.sequence > $1.sequence ? $0 : $1 }
        }
    }

    private func observe(_ notes: DocumentCollection, _ log: Log) throws -> ObservationToken {
        try notes.observe { changes in
            log.append(changes.map { Log.Entry(id: $0.id, sequence: $0.sequence, revision: $0.revision) })
            for change in changes {
                let sequence = (try? notes.snapshot().document(change.id)).flatMap { $0 }?.sequence ?? 0
                if sequence < change.sequence {
                    log.complain("\(change.id) was heard of before it was there")
                }
            }
        }
    }

    @Test func listenersHearOfWhatIsAcknowledgedInOneOrder() async throws {
        let files = try TemporaryDatabase()
        let database = try files.open()
        let notes = try database.collection("notes")
        let (saved, heard) = (Log(), [Log(), Log()])
        let observations = try heard.map { try observe(notes, $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<Self.writers {
                group.addTask {
                    for number in 0..<Self.saves {
                        let document = try await notes.save(
                            json: #"{"number":\#(number)}"#, id: "\(writer)-\(number % 7)")
                        saved.append([
                            Log.Entry(
                                id: document.id, sequence: document.sequence, revision: document.revision)
                        ])
                    }
                }
            }
            group.addTask { for _ in 0..<3 { try await database.compact() } }
            try await group.waitForAll()
        }
        let acknowledged = Set(saved.all)
        #expect(acknowledged.count == Self.writers * Self.saves)
        #expect(Set(saved.all.map(\.sequence)).count == acknowledged.count, "a sequence that was given twice")
        for log in heard {
            #expect(try await eventually { log.last == saved.last })
            let sequences = log.all.map(\.sequence)
            #expect(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 })
            #expect(acknowledged.isSuperset(of: log.all))
            #expect(log.complaints.isEmpty)
        }
        for observation in observations { observation.cancel() }
    }
}
