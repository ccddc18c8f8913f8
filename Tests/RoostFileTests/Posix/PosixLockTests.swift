import Foundation
import RoostFile
import Testing

/// Locks between processes; the other process is Python, whose `fcntl.flock` is the same system call.
struct PosixLockTests {
    @Test func anotherProcessIsKeptOutUnderEveryName() throws {
        let place = try Place(.posix)
        let lock = try place.create("file").lock()
        let link = place.path("hard link")
        try FileManager.default.linkItem(atPath: place.path("file"), toPath: link)
        #expect(try run(Self.attempt, place.path("file")) == "refused")
        #expect(try run(Self.attempt, link) == "refused")
        withExtendedLifetime(lock) {}
    }

    @Test func releasedLocksAreFreeForOtherProcesses() throws {
        let place = try Place(.posix)
        let file = try place.create("file")
        _ = try file.lock()
        #expect(try run(Self.attempt, file.path) == "taken")
    }

    @Test func anotherProcessKeepsUsOutUntilItIsKilled() throws {
        let place = try Place(.posix)
        let file = try place.create("file", [1, 2, 3])
        let (process, output) = try start(Self.hold, file.path)
        defer { process.terminate() }
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "held")
        guard case .locked(let holder) = code({ _ = try file.lock() }) else {
            Issue.record("the lock was not refused")
            return
        }
        #if os(Linux)
            #expect(holder.hasPrefix("process \(process.processIdentifier) (python3"))
        #else
            #expect(holder == "another process")
        #endif
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let lock = try file.lock()
        withExtendedLifetime(lock) {}
        #expect(try file.readFully(9) == [1, 2, 3])
    }

    private static let attempt = """
        import fcntl, sys
        file = open(sys.argv[1], "r+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print("taken", end="")
        except BlockingIOError:
            print("refused", end="")
        """

    private static let hold = """
        import fcntl, sys
        file = open(sys.argv[1], "r+")
        fcntl.flock(file, fcntl.LOCK_EX)
        print("held", end="", flush=True)
        sys.stdin.read()
        """

    private func start(_ script: String, _ path: String) throws -> (Process, Pipe) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = Pipe()
        try process.run()
        return (process, output)
    }

    private func run(_ script: String, _ path: String) throws -> String {
        let (process, output) = try start(script, path)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
