import Foundation
import Roost
import Synchronization
import Testing

/// Those who observe are told of what other processes commit: with the next write of their own, and when asked to look.
@Suite struct OthersChangesTests {
    private let openings = TwoOpenings()
    private let first: Database
    private let second: Database
    private let mine: DocumentCollection
    private let theirs: DocumentCollection

    init() throws {
        (first, second) = (try openings.open(), try openings.open())
        (mine, theirs) = (try first.collection("notes"), try second.collection("notes"))
    }

    private final class Heard: Sendable {
        let changes = Mutex<[String]>([])
        func add(_ text: String) { changes.withLock { $0.append(text) } }
        var all: [String] { changes.withLock { $0 } }
    }

    @Test func listenersHearOfThem() async throws {
        let heard = Heard()
        let token = try mine.observe { changes in
            for change in changes { heard.add(change.isPurged ? "purged \(change.id)" : change.id) }
        }
        try await theirs.save(json: #"{"v":1}"#, id: "a")
        #expect(try first.refresh())
        #expect(try await eventually { heard.all == ["a"] })
        try await theirs.save(json: #"{"v":1}"#, id: "b")
        try Self.save("c", in: mine)
        #expect(try await eventually { heard.all == ["a", "b", "c"] })
        try await second.write { [theirs] batch in _ = try batch.purge("a", in: theirs) }
        #expect(try first.refresh())
        #expect(try await eventually { heard.all == ["a", "b", "c", "purged a"] })
        token.cancel()
    }

    private static func save(_ id: String, in collection: DocumentCollection) throws {
        try collection.save(json: #"{"v":1}"#, id: id)
    }

    @Test func feedsGoOn() async throws {
        let feed = Task { [mine] in
            var ids: [String] = []
            for try await change in mine.changes() {
                ids.append(change.id)
                if ids.count == 3 { break }
            }
            return ids
        }
        for id in ["a", "b", "c"] {
            try Self.save(id, in: theirs)
            #expect(try first.refresh())
        }
        #expect(try await feed.value == ["a", "b", "c"])
    }

    @Test func aFeedOfACollectionThatTheOtherDropsEnds() async throws {
        let feed = Task { [mine] in for try await _ in mine.changes() {} }
        try second.drop(theirs)
        #expect(try first.refresh())
        await #expect(throws: DatabaseError.self) { try await feed.value }
    }

    @Test func eventsTellWhatChanged() throws {
        let heard = Heard()
        let token = first.observeEvents { event in
            switch event {
            case .changed(let name, _, let last, let purged):
                heard.add("\(name) \(last) \(purged.map(\.id))")
            case .dropped(let name, _): heard.add("dropped \(name)")
            default: heard.add("another")
            }
        }
        try theirs.save(json: #"{"v":1}"#, id: "a")
        try theirs.save(json: #"{"v":1}"#, id: "b")
        try second.write { _ = try $0.purge("a", in: theirs) }
        #expect(heard.all.isEmpty)
        try first.refresh()
        #expect(heard.all == [#"_default.notes 2 ["a"]"#])
        try second.drop(theirs)
        try first.refresh()
        #expect(heard.all.last == "dropped _default.notes")
        token.cancel()
    }
}
