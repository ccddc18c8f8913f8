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
