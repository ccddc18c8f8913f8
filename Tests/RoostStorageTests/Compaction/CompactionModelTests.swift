import RoostFile
import Testing

@testable import RoostStorage

/// Compaction against the model: what the store holds does not change, whatever is committed meanwhile.
@Suite struct CompactionModelTests {
    @Test(arguments: 1...8)
    func compactionKeepsContent(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let options = DocumentHistory.options(seed: seed)
        var history = DocumentHistory(seed: seed)
        var store = try Store.open(path, options: options)
        var snapshots: [(Snapshot, DocumentHistory.Content)] = []
        for round in 0..<4 {
            for _ in 0..<12 { try history.commit(to: store) }
            snapshots.append((store.snapshot(), history.content))
            let number = store.snapshot().commit.number
            let result = try store.compact(Self.compaction(seed))
            try history.content.check(store.snapshot(), "round \(round)")
            #expect(store.snapshot().commit.number >= number)
            #expect(result.bytesAfter == store.state.record.end)
            try history.commit(to: store)
            if round % 2 == 1 {
                try store.close()
                store = try Store.open(path, options: options)
                try history.content.check(store.snapshot(), "reopened after round \(round)")
            }
        }
        for (snapshot, content) in snapshots { try content.check(snapshot, "old snapshot") }
    }

    @Test(arguments: 1...8)
    func commitsDuringTheCopyAreKept(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let options = DocumentHistory.options(seed: seed)
        var history = DocumentHistory(seed: seed)
        var store = try Store.open(path, options: options)
        for round in 0..<4 {
            for _ in 0..<20 { try history.commit(to: store) }
            var commits = 0
            try store.compact(Self.compaction(seed)) { _ in
                if commits < 30 {
                    commits += 1
                    #expect(throws: Never.self) { try history.commit(to: store) }
                }
                return true
            }
            #expect(commits > 0)
            try history.content.check(store.snapshot(), "round \(round)")
            try history.commit(to: store)
            try store.close()
            store = try Store.open(path, options: options)
            try history.content.check(store.snapshot(), "reopened after round \(round)")
        }
    }

    /// Some seeds change what the new file is written with.
    private static func compaction(_ seed: UInt64) -> CompactionOptions {
        var options = CompactionOptions()
        if seed % 4 == 1 { options.nodeSize = 4096 }
        if seed % 4 == 2 { options.compression = 6 }
        return options
    }
}
