import Foundation
import Roost
import Testing

@testable import RoostCommand

/// `roost dump` and `roost inspect` say what was asked for, and what is wrong with what was asked.
@Suite struct DumpCommandTests {
    private let path = NSTemporaryDirectory() + "roost-" + UUID().uuidString

    private func makeDatabase(_ options: DatabaseOptions = DatabaseOptions()) throws {
        let database = try Database.open(path, options: options)
        try database.defaultCollection.save(json: #"{"bird": "swift"}"#, id: "apus")
        try database.close()
    }

    @Test(arguments: [
        [], ["--commit", "last"], ["--commit", "1", "--all"], ["--offset", "0x2000"],
        ["--offset", "8200", "--json"],
        ["--all", "--limit", "0", "--json"],
    ])
    func dumpSucceeds(arguments: [String]) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeDatabase()
        #expect(RoostTool.run(["dump", path] + arguments) == 0)
        #expect(RoostTool.run(["dump", path + "/data.roost"] + arguments) == 0)
    }

    @Test func wrongArgumentsAreWrongUsage() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeDatabase()
        #expect(RoostTool.run(["dump", path, "--offset", "here"]) == 2)
        #expect(RoostTool.run(["dump", path, "--commit", "first"]) == 2)
        #expect(RoostTool.run(["dump", path, "--offset", "999999999"]) == 1)
        #expect(RoostTool.run(["dump", path, "--commit", "999"]) == 1)
        #expect(RoostTool.run(["dump", path + "-missing"]) == 1)
        #expect(RoostTool.run(["inspect", path + "-missing"]) == 1)
    }

    @Test func encryptedDatabasesNeedTheirKey() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try makeDatabase(DatabaseOptions(key: .passphrase("gable")))
        let secret = path + "/passphrase"
        try OutputFile.write("gable\n", to: secret)
        #expect(RoostTool.run(["dump", path, "--all"]) == 1)
        #expect(RoostTool.run(["inspect", path]) == 1)
        #expect(RoostTool.run(["dump", path, "--all", "--passphrase-file", secret]) == 0)
        #expect(RoostTool.run(["inspect", path, "--json", "--passphrase-file", secret]) == 0)
    }
}
