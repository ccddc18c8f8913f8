import Foundation
import RoostFile
import Testing

/// Locks between processes; the other process is Python, whose `fcntl.flock` is the same system call.
struct PosixLockTests {
    @Test func anotherProcessIsKeptOut() throws {
        let place = try Place(.posix)
        let path = place.path("lock")
        let lock = try place.medium.lock(path, holder: "process 1 (tests)")
        #expect(try run(Self.attempt, path) == "refused process 1 (tests)")
        withExtendedLifetime(lock) {}
    }

    @Test func releasedLocksAreFreeForOtherProcesses() throws {
        let place = try Place(.posix)
        let path = place.path("lock")
        _ = try place.medium.lock(path, holder: "process 1 (tests)")
        #expect(try run(Self.attempt, path) == "taken")
    }

    @Test func anotherProcessKeepsUsOutUntilItIsKilled() throws {
        let place = try Place(.posix)
        let path = place.path("lock")
        let (process, output) = try start(Self.hold, path)
        defer { process.terminate() }
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) == "held")
        #expect(
            code { _ = try place.medium.lock(path, holder: "me") } == .locked(holder: "process 4711 (notesd)")
        )
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let lock = try place.medium.lock(path, holder: "a shorter one")
        #expect(code { _ = try place.medium.lock(path, holder: "me") } == .locked(holder: "a shorter one"))
        withExtendedLifetime(lock) {}
    }

    @Test func bytesOfAnybodysAreBoundedAndRepaired() throws {
        let place = try Place(.posix)
        let path = place.path("lock")
        let lock = try place.medium.lock(path, holder: "me")
        try place.medium.open(path, .readWrite).writeFully([0xFF] + [UInt8](repeating: 0x41, count: 100_000))
        let expected = "\u{FFFD}" + String(repeating: "A", count: 255)
        #expect(code { _ = try place.medium.lock(path, holder: "you") } == .locked(holder: expected))
        try place.medium.open(path, .readWrite).truncate(to: 0)
        #expect(code { _ = try place.medium.lock(path, holder: "you") } == .locked(holder: "another process"))
        withExtendedLifetime(lock) {}
    }

    private static let attempt = """
        import fcntl, sys
        file = open(sys.argv[1])
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print("taken", end="")
        except BlockingIOError:
            print("refused " + file.read(), end="")
        """

    private static let hold = """
        import fcntl, sys
        file = open(sys.argv[1], "w")
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("process 4711 (notesd)")
        file.flush()
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
