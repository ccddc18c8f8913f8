import ChildProcesses
import Foundation
import Testing

@testable import RoostCommand

/// `roost serve --config`.
@Suite(.timeLimit(.minutes(2))) struct ServeConfigurationTests {
    private let directory = Tool()
    private var file: String { directory.path + ".conf" }

    private func settings(_ text: String, _ arguments: String...) throws -> ServeSettings {
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let invocation = try Invocation(arguments + ["--config", file], of: ServeCommand.self)
        return try ServeSettings(invocation)
    }

    @Test func everyOptionIsASetting() throws {
        try "secret words\n".write(toFile: file + ".password", atomically: true, encoding: .utf8)
        try "# more\nbert:pass:word\n\ncarl:x\r\n".write(
            toFile: file + ".admins", atomically: true, encoding: .utf8)
        defer {
            for end in ["", ".password", ".admins"] {
                try? FileManager.default.removeItem(atPath: file + end)
            }
        }
        let name = URL(fileURLWithPath: file).lastPathComponent
        let settings = try settings(
            """
            # A server.
            directory = data
            port = 6000
            address=127.0.0.2
            ; Who administers it:
            admin = anna
            password-file = \(name).password
            admins = \(name).admins
            origins = https://a.example, https://b.example
            trusted-proxies = 10.0.0.0/8
            hosts = db.example
            connections = 12
            connections-per-address = 3
            request-memory = 64
            longest-attachment = 10
            longest-work = 20
            session = 30
            rate-per-address = 600
            rate-per-user = 300
            log = requests.log
            error-log = errors.log
            log-format = json
            guests = yes
            take-turns = no
            """)
        let beside = URL(fileURLWithPath: file).deletingLastPathComponent().path
        #expect(settings.directory == beside + "/data" && settings.log == beside + "/requests.log")
        #expect(settings.server.port == 6000 && settings.server.address == "127.0.0.2")
        #expect(settings.router.admins == ["anna": "secret words", "bert": "pass:word", "carl": "x"])
        #expect(settings.router.origins == ["https://a.example", "https://b.example"])
        #expect(settings.router.trustedProxies.contains(peer: "10.9.8.7"))
        #expect(settings.server.hosts == ["db.example"])
        #expect(settings.server.connections == 12 && settings.server.connectionsPerAddress == 3)
        #expect(settings.router.requestMemory == 64 << 20 && settings.router.longestAttachment == 10 << 20)
        #expect(settings.router.longestWork == .seconds(20) && settings.router.sessionDuration == 30)
        #expect(
            settings.router.requestsPerMinuteOfAddress == 600
                && settings.router.requestsPerMinuteOfUser == 300)
        #expect(settings.errorLog == beside + "/errors.log")
        #expect(settings.server.logFormat == .json && settings.router.allowsGuests && !settings.takesTurns)
        #expect(settings.generated == nil)
    }

    @Test func argumentsGoBeforeTheFile() throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        let settings = try settings("directory = other\nport = 6000\n", directory.path, "--port", "7000")
        #expect(settings.directory == directory.path && settings.server.port == 7000)
        #expect(settings.generated?.name == "roost")
    }

    @Test(arguments: [
        ("prot = 1", "2: There is no setting \"prot\"; did you mean port?"),
        ("port", "2: A line is NAME = VALUE."),
        ("port = 1\nport = 2", "3: port is set twice."), ("port =", "2: port has no value."),
        ("guests = maybe", "2: guests is yes or no."), ("config = x", "2: There is no setting \"config\""),
        ("port = x", "--port takes a whole number"),
        ("admins = /dev/null", "/dev/null names no administrator."),
        ("longest-attachment = 9223372036854775807", "--longest-attachment is too large."),
    ])
    func whatIsWrongIsNamedWithItsLine(text: String, message: String) throws {
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect {
            _ = try settings("directory = d\n" + text)
        } throws: { "\($0)".contains(message) }
    }

    /// A server that reads its settings again knows other administrators, and goes on as it was with settings that are wrong.
    @Test func administratorsAreReadAgain() throws {
        let admins = file + ".admins"
        try "anna:one\n".write(toFile: admins, atomically: true, encoding: .utf8)
        try "directory = \(directory.path)\nport = 0\nadmins = \(admins)\nlog = \(file).log\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        defer {
            for end in ["", ".admins", ".log"] { try? FileManager.default.removeItem(atPath: file + end) }
        }
        let process = try ChildProcess(["serve", "--config", file], of: "roost")
        let line = process.read().split(separator: "\n").first { $0.hasPrefix("roost serves ") }
        let address = String(try #require(line).dropFirst("roost serves ".count))
        let jar = file + ".jar"
        defer { try? FileManager.default.removeItem(atPath: jar) }
        func status(_ arguments: String...) throws -> String {
            let answer = try ChildProcess.run(
                ["/usr/bin/env", "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}"] + arguments)
            return String(decoding: answer.output, as: UTF8.self)
        }
        /// Asks until the server has dealt with the signal.
        func wait(for expected: String, _ user: String) throws {
            for _ in 0..<500 where try status("-u", user, "\(address)/_all_dbs") != expected {}
            #expect(try status("-u", user, "\(address)/_all_dbs") == expected)
        }
        #expect(try status("-u", "anna:one", "\(address)/_all_dbs") == "200")
        let form = ["-d", "name=anna&password=one"]
        #expect(try status("-c", jar, form[0], form[1], "\(address)/_session") == "200")
        #expect(try status("-b", jar, "\(address)/_all_dbs") == "200")
        try "bert:two\n".write(toFile: admins, atomically: true, encoding: .utf8)
        #expect(Foundation.kill(process.identifier, SIGHUP) == 0)
        try wait(for: "200", "bert:two")
        #expect(try status("-u", "anna:one", "\(address)/_all_dbs") == "401")
        #expect(try status("-b", jar, "\(address)/_all_dbs") == "401")
        // What is wrong changes nothing, and the log is opened again all the same.
        try "bert\n".write(toFile: admins, atomically: true, encoding: .utf8)
        try FileManager.default.moveItem(atPath: file + ".log", toPath: file + ".log.1")
        defer { try? FileManager.default.removeItem(atPath: file + ".log.1") }
        #expect(Foundation.kill(process.identifier, SIGHUP) == 0)
        for _ in 0..<500 where !FileManager.default.fileExists(atPath: file + ".log") {
            _ = try status("\(address)/")
        }
        #expect(FileManager.default.fileExists(atPath: file + ".log"))
        #expect(try status("-u", "bert:two", "\(address)/_all_dbs") == "200")
        #expect(process.end(by: SIGTERM) == 0)
    }
}
