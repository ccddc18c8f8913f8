import Testing

@testable import RoostStorage

/// What goes with a snapshot for as long as there is no newer one.
@Suite struct SnapshotCompanionTests {
    /// Keeps its snapshot, as what is read at a moment does.
    private final class Reading: Sendable {
        let snapshot: Snapshot
        init(_ snapshot: Snapshot) { self.snapshot = snapshot }
    }

    private let directory: TemporaryDirectory
    private let store: Store

    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory.file("store"))
    }

    private func commit() throws {
        let tree = try store.tree("numbers")
        try store.write { try $0.put("a", [1], in: tree) }
    }

    @Test func itIsTheSameUntilTheNextCommit() throws {
        let snapshot = store.snapshot()
        #expect(snapshot.companion(Reading.self) == nil)
        let made = snapshot.companion { Reading(snapshot) }
        #expect(store.snapshot().companion { Reading(snapshot) } === made)
        try commit()
        #expect(snapshot.companion(Reading.self) == nil)
        #expect(store.snapshot().companion(Reading.self) == nil)
    }

    @Test func oneOfAnOlderSnapshotIsNotKept() throws {
        try commit()
        let older = store.snapshot()
        try commit()
        let early = try store.snapshot(at: older.commit)
        for snapshot in [older, early] {
            _ = snapshot.companion { Reading(snapshot) }
            #expect(snapshot.companion(Reading.self) == nil)
        }
    }

    @Test(arguments: ["commit", "compact", "close"])
    func nothingKeepsASnapshotThatWasReplaced(how: String) throws {
        try commit()
        weak var snapshot: Snapshot?
        do {
            let newest = store.snapshot()
            _ = newest.companion { Reading(newest) }
            snapshot = newest
        }
        #expect(snapshot != nil)
        switch how {
        case "commit": try commit()
        case "compact": try store.compact()
        default: try store.close()
        }
        #expect(snapshot == nil)
    }

    @Test func nothingKeepsASnapshotOfAStoreThatIsGone() throws {
        weak var snapshot: Snapshot?
        do {
            let other = try Store.open(directory.file("other"))
            let newest = other.snapshot()
            _ = newest.companion { Reading(newest) }
            snapshot = newest
        }
        #expect(snapshot == nil)
    }
}
