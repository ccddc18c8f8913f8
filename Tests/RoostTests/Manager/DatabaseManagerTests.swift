import Foundation
import Roost
import RoostFile
import RoostSimulation
import Testing

@Suite struct DatabaseManagerTests {
    private let files: TemporaryDatabase
    private let manager: DatabaseManager

    init() throws {
        files = try TemporaryDatabase()
        manager = try DatabaseManager(files.directory + "/all", maximumOpen: 2)
    }

    private func code(_ body: () throws -> Void) -> DatabaseError.Code? {
        (#expect(throws: DatabaseError.self) { try body() })?.code
    }

    private func entries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: manager.directory).sorted()
    }

    @Test func databasesAreMadeListedAndDeleted() throws {
        #expect(try manager.names.isEmpty && !manager.contains("notes"))
        let notes = try manager.database("notes").defaultCollection
        try notes.save(json: "{}", id: "a")
        _ = try notes.database.saveBlob([1])
        try manager.create("_users")
        #expect(try manager.names == ["_users", "notes"] && manager.contains("notes"))
        #expect(code { try manager.create("notes") } == .alreadyExists)
        #expect(code { _ = try manager.database("none", createsIfMissing: false) } == .notFound)
        #expect(try manager.database("notes") === notes.database)
        try manager.delete("notes")
        #expect(try entries() == ["_users.roost"])
        #expect(code { _ = try notes.document("a") } == .closed)
        #expect(code { try manager.delete("notes") } == .notFound)
        #expect(try manager.database("notes").defaultCollection.count == 0, "a new one")
    }

    @Test(arguments: [
        "notes", "Notes", "NOTES", "é", "e\u{301}", "a/b", "..", ".", "a b", "%41", "x.roost", "数据",
    ])
    func everyNameIsItsOwn(_ name: String) throws {
        try manager.create(name).defaultCollection.save(json: "{}", id: name)
        #expect(try manager.names.map { Array($0.utf8) } == [Array(name.utf8)])
        let folder = try #require(try entries().first)
        #expect(folder.utf8.allSatisfy { $0 < 128 } && folder == folder.lowercased() || folder.contains("%"))
        try manager.close()
        let again = try DatabaseManager(manager.directory)
        #expect(try again.database(name, createsIfMissing: false).defaultCollection.contains(name))
        #expect(try entries().count == 1)
    }

    @Test func namesThatCannotBeAreRefused() throws {
        for name in ["", String(repeating: "a", count: 250), String(repeating: "é", count: 42)] {
            #expect(code { try manager.create(name) } == .invalidName)
        }
        try manager.create(String(repeating: "a", count: 249))
    }

    @Test func foreignEntriesAreNoDatabases() throws {
        for name in ["%zz.roost", "%61.roost", "Notes.roost", "empty.roost", ".hidden", "notes"] {
            try FileManager.default.createDirectory(
                atPath: manager.directory + "/" + name, withIntermediateDirectories: true)
        }
        #expect(try manager.names.isEmpty)
        _ = try DatabaseManager(manager.directory)
        #expect(try entries().count == 6, "nothing of others is removed")
    }

    @Test func databasesNobodyHoldsAreClosed() throws {
        for name in ["a", "b", "c"] { try manager.create(name) }
        // Only what is closed can be opened apart from this process's.
        func isOpen(_ name: String) -> Bool {
            (try? Database.open(
                "\(manager.directory)/\(name).roost", environment: .system)) == nil
        }
        #expect(!isOpen("a") && isOpen("b") && isOpen("c"))
        let held = try manager.database("b")
        _ = try manager.database("a")
        #expect(isOpen("b") && !isOpen("c"))
        manager.closeUnused(for: .seconds(3600))
        #expect(isOpen("a") && isOpen("b"))
        manager.closeUnused()
        #expect(!isOpen("a") && isOpen("b"))
        try held.defaultCollection.save(json: "{}", id: "x")
        #expect(try manager.database("b") === held)
    }

    @Test func copiesAreDatabasesOfTheirOwn() throws {
        let original = try manager.create("a")
        let blob = try original.saveBlob([1, 2, 3])
        try original.defaultCollection.save(["picture": blob], id: "n")
        try manager.copy("a", to: "b")
        let copy = try manager.database("b", createsIfMissing: false)
        #expect(try copy.defaultCollection["n"] == original.defaultCollection["n"])
        #expect(try copy.blobReader(blob)?.readAll() == [1, 2, 3])
        #expect(copy.publicUUID != original.publicUUID && copy.privateUUID != original.privateUUID)
        try copy.defaultCollection.delete("n")
        #expect(try original.defaultCollection.count == 1)
        #expect(code { try manager.copy("a", to: "b") } == .alreadyExists)
        #expect(code { try manager.copy("none", to: "c") } == .notFound)
        #expect(try entries() == ["a.roost", "b.roost"])
    }

    @Test func whatOthersHaveOpenIsNotDeleted() throws {
        try manager.create("a")
        let other = try Database.open(manager.directory + "/a.roost")
        try other.defaultCollection.save(json: "{}", id: "x")
        #expect(code { try manager.delete("a") } == .locked)
        #expect(try manager.database("a").defaultCollection.contains("x"))
        try other.close()
        try manager.delete("a")
        #expect(try manager.names.isEmpty)
    }

    @Test func readingManagersChangeNothing() throws {
        try manager.create("a").defaultCollection.save(json: "{}", id: "x")
        let reader = try DatabaseManager(manager.directory, options: DatabaseOptions(isReadOnly: true))
        #expect(try reader.database("a").defaultCollection.contains("x"))
        #expect(code { try reader.create("b") } == .readOnly)
        #expect(code { try reader.delete("a") } == .readOnly)
        #expect(code { _ = try reader.database("b") } == .notFound)
    }

    /// Crashes at every change that the disk sees while a database is made, copied and deleted.
    @Test func crashesLeaveDatabasesWholeOrNotAtAll() throws {
        func environment(_ medium: SimulatedMedium) -> Environment {
            Environment(medium: medium, clock: SystemClock(), randomness: SystemRandomness())
        }
        func steps(_ medium: SimulatedMedium, _ done: (String) -> Void) throws {
            let manager = try DatabaseManager("all", environment: environment(medium))
            try manager.create("a").defaultCollection.save(json: "{}", id: "x")
            done("a")
            try manager.copy("a", to: "b")
            done("b")
            try manager.delete("a")
            done("gone")
            try manager.close()
        }
        let whole = SimulatedMedium(seed: 0)
        try steps(whole) { _ in }
        let changes = whole.counts.changes
        #expect(changes > 20)
        for change in stride(from: 1, through: changes, by: 3) {
            let medium = SimulatedMedium(seed: UInt64(change))
            medium.crash(atChange: change)
            var done: Set<String> = []
            try? steps(medium) { done.insert($0) }
            let after = medium.afterCrash(.random)
            let manager = try DatabaseManager("all", environment: environment(after))
            let names = try manager.names
            #expect(!done.contains("gone") || names == ["b"], "crash at \(change)")
            #expect(!done.contains("b") || names.contains("b"), "crash at \(change)")
            #expect(!done.contains("a") || done.contains("b") || names.contains("a"), "crash at \(change)")
            for name in names {
                let documents = try manager.database(name, createsIfMissing: false).defaultCollection
                #expect(
                    try documents.contains("x") || name == "a" && !done.contains("a"), "crash at \(change)")
            }
            #expect(try after.list("all").count == names.count, "leftovers after the crash at \(change)")
        }
    }
}
