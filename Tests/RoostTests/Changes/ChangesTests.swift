import Roost
import Synchronization
import Testing

@Suite struct ChangesTests {
    let files: TemporaryDatabase
    let notes: DocumentCollection

    init() throws {
        files = try TemporaryDatabase()
        notes = try files.open().collection("notes")
    }

    /// What listeners heard.
    private final class Heard: Sendable {
        private let changes = Mutex<[DocumentChange]>([])
        func append(_ new: [DocumentChange]) { changes.withLock { $0 += new } }
        var all: [DocumentChange] { changes.withLock { $0 } }
    }

    @Test func eachDocumentStandsOnceAtItsLastChange() throws {
        for id in ["a", "b", "c", "a"] { try notes.save(json: "{}", id: id) }
        try notes.delete("b")
        let snapshot = try notes.snapshot()
        #expect(
            try snapshot.changes().map { "\($0.sequence)\($0.id)\($0.isDeleted ? "!" : "")" } == [
                "3c", "4a", "5b!",
            ])
        #expect(try snapshot.changes(since: 3).map(\.id) == ["a", "b"])
        #expect(try snapshot.changes(since: 3, limit: 1).map(\.id) == ["a"])
        #expect(try snapshot.changes(isDescending: true).map(\.sequence) == [5, 4, 3])
        #expect(try snapshot.changes(since: 99).isEmpty && snapshot.changes(since: .max).isEmpty)
        #expect(try snapshot.changeCount(since: 0) == 3 && snapshot.changeCount(since: 4) == 1)
        #expect(try snapshot.changeCount(since: .max) == 0)
    }

    @Test func changesLeadToTheirDocuments() throws {
        try notes.save(json: #"{"v":1}"#, id: "a")
        try notes.save(json: #"{"v":2}"#, id: "b")
        try notes.save(json: #"{"v":3}"#, id: "a")
        let cursor = try notes.snapshot().changeCursor()
        var values: [Int?] = []
        while let change = try cursor.next() {
            let document = try cursor.document(of: change)
            #expect(document.id == change.id && document.sequence == change.sequence)
            #expect(try notes.document(change.id) == document)
            values.append(document["v"].int)
        }
        #expect(values == [2, 3])
    }

    @Test func collectionsHaveTheirOwnSequences() throws {
        let other = try notes.database.collection("other", scope: "elsewhere")
        try notes.save(json: "{}", id: "a")
        try other.save(json: "{}", id: "a")
        try other.save(json: "{}", id: "b")
        #expect(try notes.snapshot().lastSequence == 1)
        #expect(try other.snapshot().changes().map(\.sequence) == [1, 2])
    }

    // MARK: Listeners

    @Test func listenersHearOfEveryDocument() async throws {
        try await notes.save(json: "{}", id: "before")
        let heard = Heard()
        let observation = try notes.observe { heard.append($0) }
        try await notes.save(json: "{}", id: "a")
        try await notes.delete("a")
        try await notes.save(json: "{}", id: "b")
        #expect(try await eventually { heard.all.last?.id == "b" })
        #expect(!heard.all.contains { $0.id == "before" })
        #expect(heard.all.last { $0.id == "a" }?.isDeleted == true)
        #expect(heard.all.map(\.sequence) == heard.all.map(\.sequence).sorted())
        observation.cancel()
        try await notes.save(json: "{}", id: "after")
        try await throughAllListeners()
        #expect(!heard.all.contains { $0.id == "after" })
    }

    /// Returns when all listeners have been told of everything up to now: they are told of one page of changes before the
    /// next, so whoever was to hear of the first of two commits has heard of it when anybody hears of the second.
    private func throughAllListeners() async throws {
        let heard = Heard()
        let observation = try notes.observe("marker") { heard.append([$0]) }
        for count in 1...2 {
            try await notes.save(json: "{}", id: "marker")
            #expect(try await eventually { heard.all.count == count })
        }
        observation.cancel()
    }

    @Test func aListenerBeginsWhereItWantsAndOthersGoOn() async throws {
        for id in ["a", "b", "c"] { try await notes.save(json: "{}", id: id) }
        let (first, second) = (Heard(), Heard())
        let one = try notes.observe(since: 0) { first.append($0) }
        #expect(try await eventually { first.all.count == 3 })
        let two = try notes.observe(since: 1) { second.append($0) }
        #expect(try await eventually { second.all.count == 2 })
        try await notes.save(json: "{}", id: "d")
        #expect(try await eventually { first.all.count == 4 && second.all.count == 3 })
        try await throughAllListeners()
        #expect(first.all.map(\.sequence).prefix(4) == [1, 2, 3, 4])
        #expect(second.all.map(\.sequence).prefix(3) == [2, 3, 4])
        #expect(Set(first.all.map(\.sequence)).count == first.all.count, "told twice")
        one.cancel()
        two.cancel()
    }

    @Test func aListenerAddedWhileOthersAreToldLosesNothing() async throws {
        for id in ["a", "b", "c"] { try await notes.save(json: "{}", id: id) }
        let (first, second) = (Heard(), Heard())
        let added = Mutex<ObservationToken?>(nil)
        let collection = notes
        // The first call adds another listener, which wants to hear of what came before, too.
        let observation = try notes.observe(since: 1) { changes in
            if first.all.isEmpty {
                let other = try? collection.observe(since: 0) { second.append($0) }
                added.withLock { $0 = other }
            }
            first.append(changes)
        }
        #expect(try await eventually { second.all.count == 3 })
        try await throughAllListeners()
        #expect(first.all.map(\.sequence).prefix(2) == [2, 3])
        #expect(second.all.map(\.sequence).prefix(3) == [1, 2, 3])
        for heard in [first.all, second.all] {
            #expect(Set(heard.map(\.sequence)).count == heard.count, "told twice")
        }
        observation.cancel()
        added.withLock { $0?.cancel() }
    }

    @Test func listenersOfADocumentHearOfThatOnly() async throws {
        let heard = Heard()
        let observation = try notes.observe("a") { heard.append([$0]) }
        try await notes.save(json: "{}", id: "b")
        try await notes.save(json: "{}", id: "a")
        #expect(try await eventually { !heard.all.isEmpty })
        #expect(Set(heard.all.map(\.id)) == ["a"])
        observation.cancel()
    }

    @Test func purgesAreTold() async throws {
        let last = try await notes.save(json: "{}", id: "a")
        let heard = Heard()
        let observation = try notes.observe("a") { heard.append([$0]) }
        try await notes.purge("a")
        #expect(try await eventually { heard.all.contains { $0.isPurged && $0.revision == last.revision } })
        observation.cancel()
    }

    @Test func purgesFromBeforeAreNotTold() async throws {
        let kept = try notes.observe { _ in }
        for id in ["a", "b"] { try await notes.save(json: "{}", id: id) }
        try await notes.purge("a")
        let heard = Heard()
        let observation = try notes.observe { heard.append($0) }
        try await notes.purge("b")
        #expect(try await eventually { !heard.all.isEmpty })
        try await throughAllListeners()
        #expect(heard.all.filter(\.isPurged).map(\.id) == ["b"])
        observation.cancel()
        kept.cancel()
    }

    @Test func listenersMaySaveThemselves() async throws {
        let collection = notes
        let observation = try notes.observe("question") { _ in
            _ = try? collection.save(json: "{}", id: "answer")
        }
        try await notes.save(json: "{}", id: "question")
        #expect(try await eventually { try notes.contains("answer") })
        observation.cancel()
    }

    @Test func otherHandlesAreHeard() async throws {
        let heard = Heard()
        let observation = try notes.observe { heard.append($0) }
        let other = try files.open()
        try await other.collection("notes").save(json: "{}", id: "a")
        #expect(try await eventually { heard.all.map(\.id) == ["a"] })
        observation.cancel()
    }

    @Test func wakingHappensOnce() throws {
        let count = Mutex(0)
        let observation = try notes.onNextChange { count.withLock { $0 += 1 } }
        try notes.save(json: "{}", id: "a")
        try notes.save(json: "{}", id: "b")
        #expect(count.withLock { $0 } == 1)
        observation.cancel()
    }

    @Test func anUndoneBatchIsNotHeardOf() async throws {
        struct Stop: Error {}
        let heard = Heard()
        let observation = try notes.observe { heard.append($0) }
        let notes = notes
        await #expect(throws: Stop.self) {
            try await notes.database.write { batch in
                try batch.save(json: "{}", id: "undone", in: notes)
                throw Stop()
            }
        }
        try await throughAllListeners()
        #expect(Set(heard.all.map(\.id)) == ["marker"])
        observation.cancel()
    }

    // MARK: The feed

    @Test func aFeedGoesOnFromWhereItWas() async throws {
        for number in 0..<600 { try await notes.save(json: "{}", id: "n\(number)") }
        let collection = notes
        let writer = Task {
            for number in 600..<700 {
                try await collection.database.write { batch in
                    _ = try batch.save(json: "{}", id: "n\(number)", in: collection)
                }
            }
        }
        var sequences: [UInt64] = []
        for try await change in notes.changes(since: 100) {
            sequences.append(change.sequence)
            if sequences.count == 600 { break }
        }
        #expect(sequences == Array(101...700))
        try await writer.value
    }

    /// A task that counts what the feed gives, and reports each.
    private func counting(_ report: AsyncStream<Void>.Continuation) -> Task<Int, any Error> {
        let collection = notes
        return Task {
            var count = 0
            for try await _ in collection.changes() {
                count += 1
                report.yield()
            }
            return count
        }
    }

    /// Runs the task until it has read one change and thus waits, or is about to wait, for another.
    private func waitingFeed() async throws -> Task<Int, any Error> {
        let (reports, report) = AsyncStream<Void>.makeStream()
        let task = counting(report)
        try await notes.save(json: "{}", id: "a")
        for await _ in reports { break }
        return task
    }

    @Test func aFeedEndsWithItsTask() async throws {
        let task = try await waitingFeed()
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test func aFeedEndsWithTheDatabase() async throws {
        let task = try await waitingFeed()
        try notes.database.close()
        #expect(try await task.value == 1)
    }

    @Test func aFeedOfADroppedCollectionFails() async throws {
        let task = try await waitingFeed()
        try notes.database.drop(notes)
        let error = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(error?.code == .notFound)
        #expect(throws: DatabaseError.self) { try notes.observe { _ in } }
    }
}
