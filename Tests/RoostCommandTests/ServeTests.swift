import ChildProcesses
import Foundation
import Roost
import RoostREST
import Testing

@testable import RoostCommand

/// What `roost serve` does at SIGHUP, and with a directory that is being served.
@Suite(.timeLimit(.minutes(2))) struct ServeSignalTests {
    private let directory = Tool()
    private var log: String { directory.path + "-log" }

    private func serve(_ arguments: String...) throws -> (process: ChildProcess, address: String) {
        let process = try ChildProcess(["serve", directory.path, "--port", "0"] + arguments, of: "roost")
        let line = process.read().split(separator: "\n").first { $0.hasPrefix("roost serves ") }
        return (process, String(try #require(line).dropFirst("roost serves ".count)))
    }

    /// Sends requests until what they lead to is there, since signals and logs take their time.
    private func wait(for condition: () -> Bool, asking address: String) throws {
        for _ in 0..<500 where !condition() {
            _ = try ChildProcess.run(["/usr/bin/env", "curl", "-s", "\(address)/none"])
        }
        try #require(condition())
    }

    @Test func theLogIsOpenedAgainAndTheServerGoesOn() throws {
        let (process, address) = try serve("--log", log)
        defer {
            for path in [log, log + ".1"] { try? FileManager.default.removeItem(atPath: path) }
        }
        func has(_ path: String) -> Bool {
            (try? String(contentsOfFile: path, encoding: .utf8))?.contains("/none") == true
        }
        try wait(for: { has(log) }, asking: address)
        try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
        #expect(Foundation.kill(process.identifier, SIGHUP) == 0)
        try wait(for: { has(log) }, asking: address)
        #expect(process.end(by: SIGTERM) == 0)
    }

    /// Messages of a server that runs have their time, and go on in a new file after the old one was moved.
    @Test func theErrorLogHasTimesAndIsOpenedAgain() throws {
        let admins = log + ".admins"
        try "anna:one\n".write(toFile: admins, atomically: true, encoding: .utf8)
        let (process, address) = try serve("--error-log", log, "--admins", admins)
        defer {
            for path in [log, log + ".1", admins] { try? FileManager.default.removeItem(atPath: path) }
        }
        func lines(_ path: String) -> [Substring] {
            ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        try "anna\n".write(toFile: admins, atomically: true, encoding: .utf8)
        #expect(Foundation.kill(process.identifier, SIGHUP) == 0)
        try wait(for: { !lines(log).isEmpty }, asking: address)
        let form =
            /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]+Z roost: The settings and the certificate stay as they were\. .*/
        #expect(lines(log).allSatisfy { $0.wholeMatch(of: form) != nil }, "\(lines(log))")
        try FileManager.default.moveItem(atPath: log, toPath: log + ".1")
        for _ in 0..<2 {
            #expect(Foundation.kill(process.identifier, SIGHUP) == 0)
            try wait(for: { FileManager.default.fileExists(atPath: log) }, asking: address)
        }
        try wait(for: { !lines(log).isEmpty }, asking: address)
        #expect(process.end(by: SIGTERM) == 0)
    }

    @Test func aSecondServerIsRefused() throws {
        let (process, _) = try serve()
        let second = try ChildProcess.run([Tool.program, "serve", directory.path, "--port", "0"])
        #expect(second.status == 1)
        #expect(
            String(decoding: second.output, as: UTF8.self).contains("Another process serves the databases in")
        )
        #expect {
            _ = try DatabaseDirectory(directory.path)
        } throws: { ($0 as? DatabaseError)?.code == .locked }
        var turns = DatabaseDirectory.Options()
        turns.database.writers = .takingTurns
        #expect {
            _ = try DatabaseDirectory(directory.path, options: turns)
        } throws: { ($0 as? DatabaseError)?.code == .locked }
        #expect(process.end(by: SIGTERM) == 0)
        _ = try DatabaseDirectory(directory.path)
    }

    @Test func serversThatTakeTurnsShareADirectory() throws {
        let (first, _) = try serve("--take-turns")
        let (second, _) = try serve("--take-turns")
        #expect(first.end(by: SIGTERM) == 0 && second.end(by: SIGTERM) == 0)
    }
}

// MARK: - ServeByTurnsTests

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

// MARK: - ServeEndTests

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

// MARK: - ServeReadOnlyTests

/// `roost serve` of a directory that can only be read.
@Suite(.timeLimit(.minutes(2))) struct ServeReadOnlyTests {
    private let directory = Tool()

    /// Mounts the directory for reading only, for itself alone, and asks a server of it.
    private static let script = """
        mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 9
        "$0" serve "$1" --port 0 --admin a --password-file "$2" >"$2.out" 2>&1 &
        server=$!
        while ! url=$(sed -n 's/^roost serves //p' "$2.out" | grep .); do kill -0 $server || { cat "$2.out"; exit 8; }; done
        ask() { curl -s -u a:secret -H 'Content-Type: application/json' -w '%{http_code}\\n' "$@"; }
        ask "$url/notes/a"
        ask "$url/notes/_find" -d '{"selector":{"v":1}}'
        ask "$url/notes/_all_docs?include_docs=true" -o /dev/null
        ask "$url/_all_dbs"
        ask -X PUT "$url/notes/b" -d '{}'
        ask -X PUT "$url/new" -o /dev/null
        ask -X DELETE "$url/notes" -o /dev/null
        kill $server && wait $server
        """

    /// Serves a directory on a file system of 24 MiB, of which a file then takes all but little.
    private static let fullDisk = """
        mount -t tmpfs -o size=24m none "$1" || exit 9
        "$0" serve "$1/data" --port 0 --admin a --password-file "$2" >"$2.out" 2>&1 &
        server=$!
        while ! url=$(sed -n 's/^roost serves //p' "$2.out" | grep .); do kill -0 $server || { cat "$2.out"; exit 8; }; done
        ask() { curl -s -w '%{http_code}\\n' "$@"; }
        ask "$url/_up"
        head -c 12000000 /dev/zero >"$1/large"
        ask "$url/_up"
        rm "$1/large"
        ask "$url/_up"
        kill $server && wait $server
        """

    @Test(.enabled(if: canMount, "needs curl, and Linux's namespaces")) func aFullDiskIsReported() throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        let password = directory.path + "-password"
        defer {
            for path in [password, password + ".out"] { try? FileManager.default.removeItem(atPath: path) }
        }
        try "secret\n".write(toFile: password, atomically: true, encoding: .utf8)
        let (status, output) = try ChildProcess.run(
            ["unshare", "-rm", "/bin/bash", "-c", Self.fullDisk, Tool.program, directory.path, password])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(status == 0, "\(lines)")
        #expect(lines.filter { Int($0) != nil } == ["200", "404", "200"], "\(lines)")
        #expect(lines.contains { $0.contains("disk_full") }, "\(lines)")
    }

    private static var canMount: Bool {
        let tried = try? ChildProcess.run(
            ["/bin/sh", "-c", "command -v curl >/dev/null && unshare -rm mount --bind /tmp /tmp"],
            errors: .joined)
        return tried?.status == 0
    }

    @Test(.enabled(if: canMount, "needs curl, and Linux's namespaces")) func whatCanOnlyBeReadIsRead() throws
    {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        #expect(directory.run(["put", directory.path + "/notes.roost", "a", #"{"v":1}"#]).status == 0)
        let password = directory.path + "-password"
        defer {
            for path in [password, password + ".out"] { try? FileManager.default.removeItem(atPath: path) }
        }
        try "secret\n".write(toFile: password, atomically: true, encoding: .utf8)
        let (status, output) = try ChildProcess.run(
            ["unshare", "-rm", "/bin/bash", "-c", Self.script, Tool.program, directory.path, password])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(status == 0, "\(lines)")
        #expect(
            lines.filter { Int($0) != nil } == ["200", "200", "200", "200", "403", "403", "403"], "\(lines)")
        #expect(lines.contains { $0.contains("reading only") }, "\(lines)")
    }
}
