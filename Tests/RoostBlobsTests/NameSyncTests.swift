import RoostBlobs
import RoostFile
import RoostSimulation
import Testing

/// Names of blobs whose directory could not be synced, or was not by whoever gave them.
@Suite struct NameSyncTests {
    private let bytes = content(500)

    /// Lets the next sync of a directory fail.
    private func failNextSync(_ test: TestStore) {
        test.disk.faults.fail(.syncDirectory, at: test.disk.counts[.syncDirectory] + 1)
    }

    private func expectBlob(_ test: TestStore, _ layouts: [BlobLayout], afterCrashes count: UInt64) throws {
        for seed in 0..<count {
            let rebooted = TestStore(test.simulation.crashed(seed: seed), layouts[0])
            rebooted.store.setLayouts(layouts)
            #expect(try rebooted.store.get(blobDigest(bytes)) == bytes, "outcome \(seed)")
        }
    }

    @Test func aNameIsTakenAwayAgainWhoseSyncFailed() throws {
        let test = try TestStore()
        try test.store.put([1])
        failNextSync(test)
        #expect(code { try test.store.put(bytes) } == .inputOutput)
        #expect(try !test.store.contains(blobDigest(bytes)))
        #expect(code { try test.store.secure(blobDigest(bytes)) } == .notFound)
        try test.store.put(bytes)
        try expectBlob(test, [.plain], afterCrashes: 20)
    }

    @Test func aDirectoryIsTakenAwayAgainWhoseSyncFailed() throws {
        for failing in 1...2 {
            let test = try TestStore()
            test.disk.faults.fail(.syncDirectory, at: test.disk.counts[.syncDirectory] + failing)
            #expect(code { try test.store.put(bytes) } == .inputOutput)
            try test.store.put(bytes)
            try expectBlob(test, [.plain], afterCrashes: 20)
        }
    }

    @Test func aFailedSyncFailsWhoeverWaitsForTheSameDirectory() throws {
        let test = try TestStore()
        try test.store.put([1])
        var hasFailed = false
        test.disk.beginInterludes(SeededGenerator(seed: 1)) { kind in
            guard kind == .syncDirectory, !hasFailed else { return }
            hasFailed = true
            failNextSync(test)
            #expect(code { try test.store.put([2]) } == .inputOutput)
        }
        // Its own sync succeeds, after the other one has lost its name.
        #expect(code { try test.store.put(bytes) } == .inputOutput)
        #expect(hasFailed)
        #expect(try test.names().count == 1)
        try test.store.put(bytes)
        try expectBlob(test, [.plain], afterCrashes: 20)
    }

    @Test func whatADeadProcessLeftIsDurableBeforeItIsNamed() throws {
        var wasLeft = false
        for point in 1...12 {
            let test = try TestStore(seed: UInt64(point))
            try test.store.put([1])
            test.disk.crash(atChange: test.disk.counts.changes + point)
            _ = try? test.store.put(bytes)
            test.disk.crash()
            let next = TestStore(test.simulation.afterProcessDeath(), .plain)
            guard try next.store.contains(blobDigest(bytes)) else { continue }
            try next.store.secure(blobDigest(bytes))
            wasLeft = true
            try expectBlob(next, [.plain], afterCrashes: 20)
        }
        #expect(wasLeft)
    }

    @Test func aConversionThatIsGoneOnWithKeepsTheBlob() throws {
        let layouts = [BlobLayout.testSealed, .plain]
        for first in 1...8 {
            for second in 1...4 {
                let test = try TestStore(seed: UInt64(first))
                try test.store.put(bytes)
                test.store.setLayouts(layouts)
                test.disk.crash(atChange: test.disk.counts.changes + first)
                _ = try? test.store.convert()
                test.disk.crash()
                let next = TestStore(test.simulation.afterProcessDeath(), layouts[0])
                next.store.setLayouts(layouts)
                next.disk.crash(atChange: second)
                _ = try? next.store.convert()
                try expectBlob(next, layouts, afterCrashes: 20)
            }
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func aConversionWhoseSyncFailedKeepsTheBlob(seed: UInt64) throws {
        let layouts = [BlobLayout.testSealed, .plain]
        let test = try TestStore(seed: seed)
        try test.store.put(bytes)
        test.store.setLayouts(layouts)
        failNextSync(test)
        #expect(code { _ = try test.store.convert() } == .inputOutput)
        #expect(try test.store.convert().isEmpty)
        try expectBlob(test, layouts, afterCrashes: 20)
    }
}
