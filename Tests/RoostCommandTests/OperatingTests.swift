import ChildProcesses
import Foundation
import Roost
import Testing

@testable import RoostCommand

/// What operators of a server use besides it.
@Suite struct OperatingTests {
    private let tool = Tool()

    private func file(_ text: String) throws -> String {
        let path = tool.path + "-\(UUID().uuidString)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    // MARK: Accounts

    @Test func accountsAreAddedChangedAndRemoved() throws {
        let directory = tool.path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let password = try file("secret words\n")
        defer { try? FileManager.default.removeItem(atPath: password) }
        // In processes of their own: a command that waits for tasks takes a thread from those of the other tests.
        func run(_ arguments: String...) throws -> (status: Int32, output: String) {
            let (status, output) = try ChildProcess.run([Tool.program, "users"] + arguments, errors: .joined)
            return (status, String(decoding: output, as: UTF8.self))
        }
        #expect(try run("list", directory).output == "There are no accounts.\n")
        #expect(
            try run("add", directory, "anna", "--roles", "a, b", "--new-password-file", password).status == 0)
        #expect(try run(directory, "add", "bert", "--new-password-file", password).status == 0)
        #expect(try run("add", directory, "anna", "--new-password-file", password).status == 1)
        let first = #"{"name":"anna","roles":["a","b"]}"# + "\n"
        #expect(try run("list", directory, "--json").output == first + #"{"name":"bert","roles":[]}"# + "\n")
        let before = try account("anna", in: directory)
        #expect(before["derived_key"] != nil && before["password"] == nil)
        #expect(try run("roles", directory, "anna", "--roles", "c").status == 0)
        #expect(try account("anna", in: directory)["derived_key"] == before["derived_key"])
        #expect(try run("password", directory, "anna", "--new-password-file", password).status == 0)
        #expect(try account("anna", in: directory)["derived_key"] != before["derived_key"])
        #expect(
            try run("remove", directory, "bert").status == 0 && run("remove", directory, "bert").status == 1)
        #expect(try run("list", directory, "--json").output == #"{"name":"anna","roles":["c"]}"# + "\n")
        #expect(try run("add", directory).status == 2 && run("list", directory, "anna").status == 2)
        #expect(try run("remove", directory, "anna", "--roles", "x").status == 2)
        #expect(try run("list", directory + "-none").status == 1)
    }

    private func account(_ name: String, in directory: String) throws -> DocumentValue? {
        let options = DatabaseOptions(isReadOnly: true, createsIfMissing: false)
        let users = try Database.open(directory + "/_users.roost", options: options)
        return try users.defaultCollection.document("org.couchdb.user:" + name)?.value
    }

    // MARK: Backups

    @Test func allDatabasesOfADirectoryAreCopied() throws {
        let (source, copy) = (tool.path + "/data", tool.path + "/copy")
        try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
        for name in ["a", "b"] {
            #expect(tool.run(["put", "\(source)/\(name).roost", "x", #"{"n":1}"#]).status == 0)
        }
        #expect(tool.run(["backup", source, copy]).status == 0)
        #expect(tool.run(["put", "\(source)/b.roost", "y", #"{"n":2}"#]).status == 0)
        let second = tool.run(["backup", source, copy, "--json"])
        #expect(second.status == 0 && second.output.split(separator: "\n").count == 2)
        #expect(tool.run(["ls", "\(copy)/b.roost"]).output == "x\ny\n")
        // A database that can't be copied is reported, and the others are copied.
        try FileManager.default.removeItem(atPath: "\(source)/a.roost/data.roost")
        try "nothing".write(toFile: "\(source)/a.roost/data.roost", atomically: true, encoding: .utf8)
        #expect(tool.run(["put", "\(source)/b.roost", "z", #"{"n":3}"#]).status == 0)
        let third = tool.run(["backup", source, copy])
        #expect(third.status == 1 && third.output.contains("a.roost: "))
        #expect(tool.run(["ls", "\(copy)/b.roost"]).output == "x\ny\nz\n")
        #expect(tool.run(["backup", source, copy, "--every", "soon"]).status == 2)
    }

    @Test(.timeLimit(.minutes(1))) func backupsAreRepeatedUntilTheyAreInterrupted() throws {
        let (source, copy) = (tool.path + "/a.roost", tool.path + "/copy")
        try FileManager.default.createDirectory(atPath: tool.path, withIntermediateDirectories: true)
        #expect(tool.run(["put", source, "x", "{}"]).status == 0)
        let process = try ChildProcess(["backup", source, copy, "--every", "1s"], of: "roost")
        #expect(process.read().contains("everything"))
        #expect(tool.run(["put", source, "y", "{}"]).status == 0)
        var told = ""
        while !told.contains("what is new") { told += process.read() }
        #expect(process.end(by: SIGTERM) == 0)
        #expect(tool.run(["ls", copy]).output == "x\ny\n")
    }

    // MARK: Completions

    @Test func completionsKnowAllCommandsAndOptions() throws {
        let bash = try file(tool.run(["completions", "bash"]).output)
        defer { try? FileManager.default.removeItem(atPath: bash) }
        func completed(_ words: String...) throws -> Set<String> {
            let script =
                ". '\(bash)'; COMP_WORDS=(roost \(words.map { "'\($0)'" }.joined(separator: " "))); "
                + "COMP_CWORD=\(words.count); _roost; printf '%s\\n' \"${COMPREPLY[@]}\""
            let answer = try ChildProcess.run(["/bin/bash", "-c", script])
            return Set(String(decoding: answer.output, as: UTF8.self).split(separator: "\n").map(String.init))
        }
        #expect(try completed("se") == ["search", "serve"])
        #expect(try completed("serve", "--po") == ["--port"])
        for command in RoostTool.commands {
            #expect(try completed(command.name, "--").isSuperset(of: command.options.map(\.name)))
        }
        for shell in ["zsh", "fish"] {
            let text = tool.run(["completions", shell]).output
            for command in RoostTool.commands { #expect(text.contains(command.name)) }
        }
        #expect(tool.run(["completions", "csh"]).status == 2)
    }
}
