import Foundation
import Roost
import RoostFile
import RoostSimulation
import Testing

/// No file of an encrypted database, by its bytes or its name, gives away its keys, or an ID, a name of a property, a
/// collection or an attachment, a text, a blob's content or its digest: at any moment of whatever is done with it, and
/// whatever a crash leaves.
@Suite struct SecrecyTests {
    private let key = EncryptionKey.random()
    private let blob = Array(String(repeating: "feathers of the gable nest ", count: 400).utf8)

    /// What everything below is made of. Long enough that chance does not make it.
    private enum Secret {
        static let collection = "hidden-collection"
        static let id = "swift-secret-id"
        static let property = "secretProperty"
        static let text = "nests under the eaves"
        static let attachment = "plan-of-the-roof.txt"
        static let contentType = "text/x-secret-plan"
        static let content = "feathers of the gable nest "
        static let local = "secret-checkpoint"
        static let all = [collection, id, property, text, attachment, contentType, content, local]
    }

    /// What is done with the database.
    enum Work: String, CaseIterable {
        case writing, compacting, backingUp, changingTheKey, removing

        func perform(on database: Database, _ content: [UInt8]) throws {
            switch self {
            case .writing: try SecrecyTests.fill(database, from: 100, content + [1])
            case .compacting: try database.compact()
            case .backingUp: try database.backup(to: "copy")
            case .changingTheKey: try database.changeKey(to: .random())
            case .removing:
                try database.collection(Secret.collection).delete("\(Secret.id)-0")
                try database.compact()
            }
        }
    }

    private static func fill(_ database: Database, from first: Int, _ content: [UInt8]) throws {
        let collection = try database.collection(Secret.collection)
        for number in first..<first + 12 {
            var draft = MutableDocument(
                id: "\(Secret.id)-\(number)",
                [Secret.property: .string("\(Secret.text) \(number)")])
            try database.write { batch in
                try batch.save(&draft, in: collection, onConflict: .lastWriteWins)
            }
        }
        let blob = try database.saveBlob(content, contentType: Secret.contentType)
        var draft = try #require(try collection.document("\(Secret.id)-\(first)")).mutableCopy()
        draft.attachments[Secret.attachment] = Attachment(blob)
        try collection.save(&draft)
        try database.write { batch in
            try batch.saveLocalDocument(
                json: #"{"\#(Secret.property)":"\#(Secret.text)"}"#, name: Secret.local, in: collection)
        }
    }

    private func open(_ simulation: Simulation, _ key: EncryptionKey?) throws -> Database {
        var options = DatabaseOptions()
        options.key = key
        return try Database.open("db", options: options, environment: simulation.environment)
    }

    /// A database with something to compact and a blob.
    private func filled(_ simulation: Simulation, _ key: EncryptionKey?) throws -> Database {
        let database = try open(simulation, key)
        try Self.fill(database, from: 0, blob)
        try Self.fill(database, from: 0, blob)
        return database
    }

    /// Names and bytes of all files below `directory`.
    private func files(_ disk: SimulatedMedium, _ directory: String) throws -> [(
        path: String, bytes: [UInt8]
    )] {
        guard try disk.status(of: directory) != nil else { return [] }
        return try disk.list(directory).flatMap { name in
            let path = "\(directory)/\(name)"
            guard let bytes = disk.contents(of: path) else { return try files(disk, path) }
            return [(path, bytes)]
        }
    }

    /// The secrets that the files of the database and of its backup show.
    private func shown(_ disk: SimulatedMedium) throws -> Set<String> {
        let digest = sha1Text(blob)
        let everything = try files(disk, "db") + files(disk, "copy")
        var found: Set<String> = []
        for (path, bytes) in everything {
            let bytes = Data(bytes + Array(path.utf8))
            for secret in Secret.all + [digest] where bytes.range(of: Data(secret.utf8)) != nil {
                found.insert(secret)
            }
            let keys = unsafe key.withBytes { unsafe [Data($0.prefix(16)), Data($0.suffix(16))] }
            if keys.contains(where: { bytes.range(of: $0) != nil }) { found.insert("the key") }
        }
        return found
    }

    /// The digest as file names have it.
    private func sha1Text(_ content: [UInt8]) -> String {
        // What a plain database calls it; the store of its own is gone at the end.
        let simulation = Simulation(seed: 1)
        let digest = (try? open(simulation, nil).saveBlob(content).digest) ?? ""
        return String(digest.dropFirst("sha1-".count)).replacing("/", with: "_")
    }

    /// That they are searched for rightly: a plain database shows all of them.
    @Test func aPlainDatabaseShowsEverything() throws {
        let simulation = Simulation(seed: 2)
        _ = try filled(simulation, nil)
        #expect(try shown(simulation.disk) == Set(Secret.all + [sha1Text(blob)]))
    }

    @Test func anOpenAndAClosedDatabaseShowNothing() throws {
        let simulation = Simulation(seed: 3)
        let database = try filled(simulation, key)
        #expect(try shown(simulation.disk).isEmpty)
        try database.close()
        #expect(try shown(simulation.disk).isEmpty)
    }

    /// The power fails, or the process is killed, at every few of the changes that the work makes to the disk; what is
    /// there then is also what was there meanwhile.
    @Test(arguments: Work.allCases) func nothingIsVisibleAtAnyMoment(of work: Work) throws {
        var point = 1
        while try !isOver(work, crashingAt: point) { point += 3 }
        #expect(point > 4)
    }

    /// Whether the work was over before the crash came.
    private func isOver(_ work: Work, crashingAt point: Int) throws -> Bool {
        let simulation = Simulation(seed: UInt64(point))
        let database = try filled(simulation, key)
        simulation.disk.crash(atChange: simulation.disk.counts.changes + point)
        try? work.perform(on: database, blob)
        let isOver = !simulation.disk.hasCrashed
        if isOver { simulation.disk.crash() }
        #expect(try shown(simulation.afterProcessDeath().disk).isEmpty, "killed at change \(point)")
        let rebooted = simulation.afterCrash()
        #expect(try shown(rebooted.disk).isEmpty, "power gone at change \(point)")
        // What opening repairs, too.
        if let again = try? open(rebooted, key) {
            #expect(try again.check().isClean)
            try again.close()
            #expect(try shown(rebooted.disk).isEmpty, "opened after change \(point)")
        }
        return isOver
    }
}
