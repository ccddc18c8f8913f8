import ChildProcesses
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
        let process = try start(Self.hold, file.path)
        #expect(process.read() == "held")
        guard case .locked(let holder) = code({ _ = try file.lock() }) else {
            Issue.record("the lock was not refused")
            return
        }
        #if os(Linux)
            #expect(holder.hasPrefix("process \(process.identifier) (python3"))
        #else
            #expect(holder == "another process")
        #endif
        process.kill()
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

    private func start(_ script: String, _ path: String) throws -> ChildProcess {
        try ChildProcess(command: ["/usr/bin/env", "python3", "-c", script, path])
    }

    private func run(_ script: String, _ path: String) throws -> String {
        let process = try start(script, path)
        let output = process.readToEnd()
        #expect(process.finish() == 0)
        return output
    }
}
