import ChildProcesses
import Foundation
import Roost
import RoostREST
import Testing

@testable import RoostCommand

/// How `roost serve` ends.
@Suite struct ServeEndTests {
    private let tool = Tool()
    private let directory = Tool()

    @Test(.timeLimit(.minutes(1)), arguments: [SIGTERM, SIGINT])
    func aServerThatIsAskedToEndClosesItsDatabases(signal: Int32) throws {
        let file = directory.path + "-password"
        try "secret words\n".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let login = ["--password-file", file]
        let server = try ChildProcess(
            ["serve", directory.path, "--port", "0", "--admin", "anna"] + login, of: "roost")
        let address = try #require(server.read().split(whereSeparator: \.isWhitespace).last.map(String.init))
        _ = tool.run("put", "a", #"{"n":1}"#)
        for name in ["notes", "copy"] {
            let pushed = try ChildProcess(
                ["replicate", tool.path, "\(address)/\(name)", "--create-target", "--user", "anna"] + login,
                of: "roost")
            #expect(pushed.finish() == 0)
        }
        #expect(server.end(by: signal) == 0)
        for name in ["notes", "copy"] {
            let options = DatabaseOptions(isReadOnly: true)
            let database = try Database.open("\(directory.path)/\(name).roost", options: options)
            #expect(try database.defaultCollection.count == 1)
            #expect(database.ending.isClean)
        }
    }

    @Test func closedDatabasesAreClosedForAll() throws {
        let databases = try DatabaseDirectory(directory.path)
        let held = try databases.create("held")
        try databases.close()
        try databases.close()
        func code(_ body: () throws -> Void) -> DatabaseError.Code? {
            do { try body() } catch { return (error as? DatabaseError)?.code }
            return nil
        }
        #expect(code { try held.defaultCollection.save(json: "{}") } == .closed)
        #expect(code { _ = try databases.database("held") } == .closed)
        #expect(code { try databases.create("new") } == .closed)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/new.roost"))
        #expect(try DatabaseDirectory(directory.path).database("held") != nil)
    }
}
