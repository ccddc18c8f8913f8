import Foundation
import Testing

@testable import RoostCommand

/// What is wrong with the arguments is told as it is, and nothing is made or changed.
@Suite struct WrongArgumentsTests {
    private let tool = Tool()

    @Test(arguments: [
        ["check"], ["inspect"], ["info"], ["ls"], ["get", "a"], ["export"], ["query", "SELECT 1"],
        ["blob", "ls"], ["backup", "copy"], ["salvage", "rescued"], ["compact"], ["index", "list"],
        ["history"],
    ])
    func aMissingDatabaseIsNamedByAllCommandsAlike(command: [String]) {
        let result = tool.run([command[0], tool.path] + command.dropFirst())
        #expect(result.status == 1)
        #expect(result.output == "roost: There is no database at \(tool.path).\n")
        #expect(!FileManager.default.fileExists(atPath: tool.path))
    }

    /// Without it, everybody would see everything.
    @Test func aSyncFunctionThatIsMissingServesNothing() {
        let result = tool.run(
            ["serve", tool.path, "--port", "0", "--sync-function", tool.path + "-none.js"])
        #expect(result.status == 1 && result.output.contains("-none.js"), "\(result.output)")
        #expect(!result.output.contains("roost serves"))
    }

    @Test func anUnknownVerbIsNamed() {
        let blob = tool.run("blob", "frob")
        #expect(
            blob.status == 2 && blob.output.contains(#"Neither "\#(tool.path)" nor "frob" is one of put,"#))
        let index = tool.run(["index", "frob", tool.path])
        #expect(
            index.status == 2
                && index.output.contains(#"Neither "frob" nor "\#(tool.path)" is one of create,"#))
    }

    /// A link is no way around it.
    @Test func aBackupInsideOfTheDatabaseIsRefused() throws {
        _ = tool.run("put", "a", "{}")
        let link = tool.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: tool.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let before = try FileManager.default.contentsOfDirectory(atPath: tool.path).sorted()
        for copy in [tool.path, tool.path + "/copy", tool.path + "/copy/", link, link + "/copy"] {
            let result = tool.run("backup", copy)
            #expect(result.status == 1 && result.output.contains("lies inside of the database"), "\(copy)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.path).sorted() == before)
        let beside = tool.path + "-beside"
        defer { try? FileManager.default.removeItem(atPath: beside) }
        #expect(tool.run("backup", beside).status == 0)
    }
}
