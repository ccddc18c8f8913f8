import RoostBlobs
import RoostFile
import RoostSimulation
import Synchronization
import Testing

/// Removal takes what nobody refers to, and never what somebody has just installed.
@Suite struct RemovalTests {
    @Test(arguments: [0, 1])
    func pinnedBlobsStay(_ layout: Int) throws {
        let test = try TestStore([BlobLayout.plain, .testSealed][layout])
        var first: InstalledBlob? = try test.store.put([1])
        let digest = blobDigest([1])
        try test.store.put([2])
        let removed = try test.store.remove(try test.store.files())
        #expect(removed.count == 1 && removed.bytes > 0)
        #expect(try test.store.contains(digest))
        // Found there by a second writer, which must be able to rely on it.
        let second = try test.store.put([1])
        #expect(first?.digest == digest && second.wasThere)
        first = nil
        #expect(try test.store.remove(try test.store.files()).count == 0)
        withExtendedLifetime(second.pin) {}
    }

    @Test func whatIsLetGoDuringACollectionStaysUntilItEnds() throws {
        let test = try TestStore(.testSealed)
        var pin: BlobPin? = try test.store.put([1]).pin
        test.store.beginCollection()
        withExtendedLifetime(pin) {}
        pin = nil
        try test.store.put([2])
        #expect(try test.store.remove(try test.store.files()).count == 0)
        test.store.endCollection()
        #expect(try test.store.remove(try test.store.files()).count == 2)
    }

    @Test func openReadersGoOnReading() throws {
        let test = try TestStore(.testSealed)
        let digest = try test.store.put(content(9000)).digest
        let reader = try #require(try test.store.open(digest))
        #expect(try test.store.remove(try test.store.files()).count == 1)
        #expect(try reader.readAll() == content(9000))
        #expect(try test.store.open(digest) == nil)
    }

    /// Blobs are stored until many were removed: what is pinned stays, the rest may go at any moment.
    @Test func installsAndRemovalsAtTheSameTime() async throws {
        let test = try TestStore()
        let store = test.store
        let isDone = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var round = 0
                    while round < 200 || !isDone.isRaised {
                        let bytes = [UInt8((round + task) % 5)]
                        let blob = try store.put(bytes)
                        #expect(try store.get(blob.digest) == bytes)
                        withExtendedLifetime(blob.pin) {}
                        round += 1
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                defer { isDone.raise() }
                var removed = 0
                while removed < 20 {
                    removed += try store.remove(try store.files()).count
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
        let left = try test.names()
        #expect(try store.remove(try store.files()).count == left.count)
        #expect(try test.names().isEmpty)
    }
}

private final class Flag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}
