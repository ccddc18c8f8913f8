import RoostBlobs
import RoostFile
import RoostSimulation
import Testing

/// Power failures at every change of the disk.
@Suite struct CrashTests {
    private static let contents = [content(10), content(9000, seed: 1), content(300_000, seed: 2)]

    /// Writes all contents, counting those that are acknowledged.
    private func work(_ test: TestStore) -> [BlobDigest] {
        var acknowledged: [BlobDigest] = []
        for bytes in Self.contents {
            guard let blob = try? test.store.put(bytes, step: 50_000) else { break }
            acknowledged.append(blob.digest)
        }
        return acknowledged
    }

    /// What must hold of the disk after a crash.
    private func check(_ test: TestStore, _ acknowledged: [BlobDigest], _ place: String) throws {
        try test.store.sweep()
        for digest in acknowledged {
            let expected = Self.contents.first { blobDigest($0) == digest }
            #expect(try test.store.get(digest) == expected, "\(place)")
        }
        #expect(try test.store.verify().damaged.isEmpty, "\(place)")
        if let left = try? test.disk.list(TestStore.directory + "/incoming") {
            #expect(left.isEmpty, "\(place)")
        }
    }

    @Test(arguments: [0, 1])
    func acknowledgedBlobsSurviveAndNothingIsHalfThere(_ layout: Int) throws {
        let layout = [BlobLayout.plain, .testSealed][layout]
        var point = 1
        while true {
            var wasHit = false
            for seed in 0..<6 as Range<UInt64> {
                let test = try TestStore(layout, seed: seed)
                test.disk.crash(atChange: test.disk.counts.changes + point)
                let acknowledged = work(test)
                wasHit = wasHit || test.disk.hasCrashed
                if !test.disk.hasCrashed { test.disk.crash() }
                let rebooted = TestStore(test.simulation.afterCrash(), layout)
                try check(rebooted, acknowledged, "change \(point), seed \(seed)")
                // Once more, in the midst of what follows.
                #expect(work(rebooted).count == Self.contents.count)
            }
            if !wasHit { break }
            point += 1
        }
        #expect(point > 15)
    }

    @Test func conversionSurvivesCrashes() throws {
        let layouts = [BlobLayout.plain, .testSealed]
        for (from, to) in [(layouts[0], layouts[1]), (layouts[1], layouts[0])] {
            var point = 1
            while true {
                let test = try TestStore(from, seed: UInt64(point))
                let digests = work(test)
                #expect(digests.count == Self.contents.count)
                test.disk.crash(atChange: test.disk.counts.changes + point)
                test.store.setLayouts([to, from])
                let unreadable = try? test.store.convert()
                let isDone = !test.disk.hasCrashed
                if isDone {
                    #expect(unreadable == [])
                    test.disk.crash()
                }
                let rebooted = TestStore(test.simulation.afterCrash(), to)
                rebooted.store.setLayouts([to, from])
                try check(rebooted, digests, "change \(point)")
                #expect(try rebooted.store.convert().isEmpty)
                rebooted.store.setLayouts([to])
                try check(rebooted, digests, "change \(point), converted")
                #expect(try rebooted.disk.list(TestStore.directory).count == Self.contents.count + 1)
                if isDone { break }
                point += 1
            }
            #expect(point > 10)
        }
    }

    @Test func aFailingMediumLeavesNothingBehind() throws {
        for kind in [CallKind.write, .sync, .rename, .syncDirectory] {
            let test = try TestStore(.testSealed)
            try test.store.put([1, 2, 3])
            test.disk.faults.fail(kind, from: test.disk.counts[kind] + 1, with: .error(.noSpace))
            #expect(code { try test.store.put(Self.contents[1]) } == .noSpace, "\(kind)")
            test.disk.faults = FaultPlan()
            #expect(try test.disk.list(TestStore.directory + "/incoming").isEmpty)
            #expect(try test.store.verify().damaged.isEmpty)
            #expect(try test.names().count == 1)
        }
    }
}
