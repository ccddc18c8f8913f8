import ChildProcesses
import Foundation
import Roost
import RoostREST
import Testing

@testable import RoostCommand

/// `roost serve --take-turns`: databases that are served, and written by other processes meanwhile.
@Suite struct ServeByTurnsTests {
    private let tool = Tool()
    private var path: String { tool.path + "/notes.roost" }

    /// What the tool, as a process of its own, does with the database; its exit status.
    private func inAnotherProcess(_ command: String, _ arguments: String...) throws -> Int32 {
        let process = try ChildProcess([command, path] + arguments, of: "roost")
        return process.finish()
    }

    private func shared() throws -> DatabaseDirectory {
        var options = DatabaseDirectory.Options()
        options.database.writers = .takingTurns
        return try DatabaseDirectory(tool.path, options: options)
    }

    @Test func whoAsksGetsWhatOthersHaveWritten() throws {
        let databases = try shared()
        let notes = try databases.create("notes").defaultCollection
        try notes.save(json: #"{"v":1}"#, id: "mine")
        #expect(try inAnotherProcess("put", "theirs", #"{"v":2}"#) == 0)
        let found = try #require(try databases.database("notes"))
        #expect(try found.defaultCollection.document("theirs")?.int("v") == 2)
        try notes.save(json: #"{"v":3}"#, id: "mine")
        #expect(try notes.count == 2)
    }

    @Test(.timeLimit(.minutes(1))) func whoWaitsIsToldOfWhatOthersWrite() async throws {
        let databases = try shared()
        let database = try databases.create("notes")
        var changes = try database.defaultCollection.changes().makeAsyncIterator()
        #expect(try inAnotherProcess("put", "theirs", #"{"v":2}"#) == 0)
        #expect(try await changes.next()?.id == "theirs")
    }

    /// The writer counts in every document that it acknowledges: whatever it told is still there.
    @Test func aDatabaseThatAnotherProcessHasOpenIsNotDeleted() throws {
        let databases = try shared()
        try databases.create("notes")
        let writer = try ChildProcess([path, "1"], of: "DatabaseWriter")
        #expect(writer.read().contains("1 1"))
        #expect {
            _ = try databases.delete("notes")
        } throws: { ($0 as? DatabaseError)?.code == .locked }
        writer.kill()
        #expect(try #require(try databases.database("notes")).defaultCollection.document("p1-0") != nil)
        #expect(try databases.delete("notes"))
        #expect(try databases.database("notes") == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func aDirectoryThatIsNotOnlyTheDatabasesIsNotDeleted() throws {
        let databases = try DatabaseDirectory(tool.path)
        try databases.create("notes")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/letter.txt"))
        #expect {
            _ = try databases.delete("notes")
        } throws: { ($0 as? DatabaseError)?.code == .notADatabase }
        #expect(FileManager.default.fileExists(atPath: path + "/letter.txt"))
    }
}
