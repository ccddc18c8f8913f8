import Roost
import RoostFile
import RoostSimulation
import Testing

/// Whatever ends a backup at whichever moment, its directory holds the old backup or the new one, with all blobs.
@Suite struct DatabaseBackupTests {
    /// What was there before the backup that is interrupted.
    enum Start: CaseIterable {
        /// No backup.
        case nothing
        /// A backup that documents were saved and deleted since.
        case earlier
        /// A backup that a compaction lies behind, which removed blobs that it names.
        case compacted
    }

    /// The attachments of all documents.
    private typealias Contents = [String: [UInt8]]

    private static let key = EncryptionKey.random()

    private func open(
        _ simulation: Simulation, _ path: String, isEncrypted: Bool, readOnly: Bool = false
    ) throws -> Database {
        var options = DatabaseOptions(isReadOnly: readOnly, createsIfMissing: !readOnly)
        options.key = isEncrypted ? Self.key : nil
        return try Database.open(path, options: options, environment: simulation.environment)
    }

    private func add(_ ids: [String], to database: Database) throws {
        for id in ids {
            let content = Array(String(repeating: "gable of \(id) ", count: 300).utf8)
            var draft = MutableDocument(id: id)
            draft.attachments["photo"] = Attachment(try database.saveBlob(content))
            try database.defaultCollection.save(&draft)
        }
    }

    /// Every attachment of every document, which must be there; `nil` where there is no database.
    private func contents(_ simulation: Simulation, _ path: String, isEncrypted: Bool) throws -> Contents? {
        let database: Database
        do {
            database = try open(simulation, path, isEncrypted: isEncrypted, readOnly: true)
        } catch let error as DatabaseError where error.code == .notFound {
            return nil
        }
        var contents: Contents = [:]
        for document in try database.defaultCollection.snapshot().documents() {
            let attachment = try #require(document.attachments["photo"])
            let reader = try #require(try database.blobReader(attachment), "the blob of \(document.id)")
            contents[document.id] = try reader.readAll()
        }
        #expect(try database.check().isClean)
        try database.close()
        return contents
    }

    /// A database on the way from an old backup to a new one, opened by another process for reading.
    private func prepared(
        _ start: Start, isEncrypted: Bool, seed: UInt64
    ) throws -> (Simulation, reader: Database, old: Contents?, new: Contents) {
        let simulation = Simulation(seed: seed)
        var writer = try open(simulation, "db", isEncrypted: isEncrypted)
        try add(["a", "b", "c"], to: writer)
        var old: Contents?
        if start != .nothing {
            try writer.backup(to: "copy")
            old = try contents(simulation, "db", isEncrypted: isEncrypted)
            try writer.defaultCollection.delete("b")
            try add(["d", "e"], to: writer)
        }
        if start == .compacted {
            // Blobs that were stored just now are kept until the database is opened again.
            try writer.close()
            writer = try open(simulation, "db", isEncrypted: isEncrypted)
            try writer.compact()
            #expect(try writer.blobs().count == 4)
        }
        try writer.close()
        let new = try #require(try contents(simulation, "db", isEncrypted: isEncrypted))
        let reader = try open(simulation, "db", isEncrypted: isEncrypted, readOnly: true)
        return (simulation, reader, old, new)
    }

    @Test(arguments: Start.allCases, [false, true])
    func everyCrashLeavesOldOrNew(start: Start, isEncrypted: Bool) throws {
        var crashes = 0
        for number in 1... {
            let (simulation, reader, old, new) = try prepared(
                start, isEncrypted: isEncrypted, seed: UInt64(number))
            simulation.disk.crash(atChange: simulation.disk.counts.changes + number)
            let isComplete = (try? reader.backup(to: "copy")) != nil
            guard simulation.disk.hasCrashed else { break }
            crashes += 1
            let rebooted = simulation.afterCrash()
            let found = try contents(rebooted, "copy", isEncrypted: isEncrypted)
            #expect(found == new || found == old && !isComplete, "crash at change \(number)")

            let again = try open(rebooted, "db", isEncrypted: isEncrypted, readOnly: true)
            try again.backup(to: "copy")
            #expect(try contents(rebooted, "copy", isEncrypted: isEncrypted) == new)
            #expect(try rebooted.disk.list("copy/blobs").sorted() == rebooted.disk.list("db/blobs").sorted())
            #expect(try rebooted.disk.list("copy/blobs/incoming") == [])
        }
        #expect(crashes > 10)
    }

    /// An acknowledged backup is on the medium, also where one that was killed has done most of the work before.
    @Test(arguments: Start.allCases)
    func theBackupAfterAKillIsDurable(start: Start) throws {
        var kills = 0
        for number in 1... {
            let (simulation, reader, old, new) = try prepared(start, isEncrypted: false, seed: UInt64(number))
            simulation.disk.crash(atChange: simulation.disk.counts.changes + number)
            let isComplete = (try? reader.backup(to: "copy")) != nil
            guard !isComplete else { break }
            kills += 1
            let survivor = simulation.afterProcessDeath()
            let found = try contents(survivor, "copy", isEncrypted: false)
            #expect(found == new || found == old, "kill at change \(number)")
            try open(survivor, "db", isEncrypted: false, readOnly: true).backup(to: "copy")
            survivor.disk.crash()
            #expect(
                try contents(survivor.afterCrash(), "copy", isEncrypted: false) == new,
                "kill at change \(number)")
        }
        #expect(kills > 10)
    }

    /// After a sync of names that failed, another one does not tell of those that the first has lost.
    @Test(arguments: Start.allCases)
    func theBackupAfterAFailedSyncIsDurable(start: Start) throws {
        var failures = 0
        for number in 1... {
            let (simulation, reader, _, new) = try prepared(start, isEncrypted: false, seed: UInt64(number))
            let disk = simulation.disk
            disk.faults.fail(.syncDirectory, at: disk.counts[.syncDirectory] + number)
            guard (try? reader.backup(to: "copy")) == nil else { break }
            failures += 1
            try reader.backup(to: "copy")
            for outcome in 0..<10 as Range<UInt64> {
                let rebooted = simulation.crashed(seed: outcome)
                #expect(rebooted.disk.contents(of: "copy/copy") == [], "sync \(number), outcome \(outcome)")
                #expect(
                    try contents(rebooted, "copy", isEncrypted: false) == new,
                    "sync \(number), outcome \(outcome)")
            }
        }
        #expect(failures > 2)
    }

    @Test(arguments: Start.allCases)
    func aFullDiskLeavesOldOrNew(start: Start) throws {
        var refusals = 0
        for pages in 0... {
            let (simulation, reader, old, new) = try prepared(start, isEncrypted: false, seed: 1)
            simulation.disk.faults.capacity = UInt64(usedPages(simulation.disk) + pages) * 4096
            do throws(DatabaseError) {
                try reader.backup(to: "copy")
            } catch {
                #expect(error.code == .noSpace, "\(error)")
                #expect(try contents(simulation, "copy", isEncrypted: false) == old, "with room for \(pages)")
                refusals += 1
                continue
            }
            #expect(try contents(simulation, "copy", isEncrypted: false) == new)
            break
        }
        #expect(refusals > 3)
    }

    /// The pages of 4 KiB that files take.
    private func usedPages(_ disk: SimulatedMedium) -> Int {
        ["db", "db/blobs", "db/blobs/incoming", "copy", "copy/blobs", "copy/blobs/incoming"].reduce(0) {
            sum, directory in
            let names = (try? disk.list(directory)) ?? []
            return names.reduce(sum) {
                $0 + ((disk.contents(of: "\(directory)/\($1)")?.count ?? 0) + 4095) / 4096
            }
        }
    }
}
