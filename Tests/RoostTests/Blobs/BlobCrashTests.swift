import Roost
import RoostSimulation
import Testing

/// The power fails while a database with blobs is encrypted, given another key, or decrypted: one of the two keys opens
/// it, every blob is there, and an encrypted database has none in the clear.
@Suite struct BlobCrashTests {
    private let contents: [[UInt8]] = (1...4).map {
        Array(String(repeating: "swift \($0) in the gable ", count: $0 * 200).utf8)
    }

    private func open(_ simulation: Simulation, _ key: EncryptionKey?) throws -> Database {
        var options = DatabaseOptions()
        options.key = key
        return try Database.open("db", options: options, environment: simulation.environment)
    }

    /// A process dies while it stores a blob; another one names what that left.
    @Test func aBlobThatADeadProcessLeftIsDurableOnceItIsNamed() throws {
        var wasNamed = false
        for point in 1...12 {
            let simulation = Simulation(seed: UInt64(point))
            let blob = try {
                let database = try open(Simulation(seed: 0), nil)
                return try database.saveBlob(contents[1])
            }()
            let database = try open(simulation, nil)
            _ = try database.saveBlob(contents[0])
            simulation.disk.crash(atChange: simulation.disk.counts.changes + point)
            _ = try? database.saveBlob(contents[1])
            simulation.disk.crash()
            let next = simulation.afterProcessDeath()
            let second = try open(next, nil)
            var draft = MutableDocument(id: "a")
            draft.attachments["photo"] = Attachment(blob)
            let saved = (try? second.defaultCollection.save(&draft)) != nil
            #expect(try saved == (second.blobReader(blob) != nil))
            next.disk.crash()
            let rebooted = try open(next.afterCrash(.losesAll), nil)
            #expect(try (rebooted.defaultCollection.document("a") != nil) == saved)
            guard saved else { continue }
            wasNamed = true
            #expect(try rebooted.blobReader(blob)?.readAll() == contents[1], "change \(point)")
        }
        #expect(wasNamed)
    }

    @Test func changingTheKeySurvivesPowerFailures() throws {
        let (first, second) = (EncryptionKey.random(), EncryptionKey.random())
        for (old, new) in [(nil, first), (first, second), (first, nil)] as [(EncryptionKey?, EncryptionKey?)]
        {
            var point = 1
            while try !survives(from: old, to: new, crashingAt: point) { point += 1 }
            #expect(point > 8)
        }
    }

    /// Whether the change was over before the crash came.
    private func survives(
        from old: EncryptionKey?, to new: EncryptionKey?, crashingAt point: Int
    ) throws -> Bool {
        let simulation = Simulation(seed: UInt64(point))
        let database = try open(simulation, old)
        let blobs = try contents.map { try database.saveBlob($0) }
        simulation.disk.crash(atChange: simulation.disk.counts.changes + point)
        _ = try? database.changeKey(to: new)
        let isDone = !simulation.disk.hasCrashed
        if isDone { simulation.disk.crash() }

        let rebooted = simulation.afterCrash()
        var key = new
        let again: Database
        do {
            again = try open(rebooted, new)
        } catch let error as DatabaseError where error.code == .wrongKey && !isDone {
            again = try open(rebooted, old)
            key = old
        }
        for (blob, content) in zip(blobs, contents) {
            #expect(try again.blobReader(blob)?.readAll() == content, "change \(point)")
        }
        #expect(try again.verifyBlobs().count == blobs.count, "change \(point)")
        let names = try rebooted.disk.list("db/blobs")
        #expect(names.count == blobs.count + 1, "change \(point)")
        #expect(names.filter { $0.hasSuffix(".sealed") }.count == (key == nil ? 0 : blobs.count))
        try again.close()
        return isDone
    }
}
