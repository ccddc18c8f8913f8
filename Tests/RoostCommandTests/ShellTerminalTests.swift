import Foundation
import Testing

@testable import RoostCommand

/// `roost shell` on a terminal, which is a pseudo terminal of the test.
@Suite(.serialized) struct ShellTerminalTests {
    /// A shell that runs on a pseudo terminal.
    private final class Session {
        let process = Process()
        private let controller: FileHandle
        let terminal: Int32
        private(set) var seen = ""

        init(_ path: String, history: String) throws {
            let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
            guard descriptor >= 0 else { throw POSIXError(.ENOTTY) }
            // The number of the terminal, which is unlocked: Linux's TIOCGPTN and TIOCSPTLCK.
            var (number, lock) = (CInt(0), CInt(0))
            guard unsafe ioctl(descriptor, 0x8004_5430, &number) == 0,
                unsafe ioctl(descriptor, 0x4004_5431, &lock) == 0
            else { throw POSIXError(.ENOTTY) }
            let name = "/dev/pts/\(number)"
            terminal = unsafe open(name, O_RDWR | O_NOCTTY)
            controller = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            var size = winsize(ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
            _ = unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size)
            process.executableURL = URL(fileURLWithPath: Tool.program)
            process.arguments = ["shell", path]
            let handle = FileHandle(fileDescriptor: terminal)
            process.standardInput = handle
            process.standardOutput = handle
            process.standardError = handle
            var environment = ProcessInfo.processInfo.environment
            environment["ROOST_HISTORY"] = history
            environment["TERM"] = "dumb"
            process.environment = environment
            try process.run()
        }

        deinit {
            if process.isRunning { process.terminate() }
            close(terminal)
        }

        func type(_ keys: String) throws { try controller.write(contentsOf: Data(keys.utf8)) }

        /// Reads until `text` was shown after what was read before; whoever waits in vain is ended by the test's limit.
        func wait(for text: String) throws {
            while !seen.contains(text) {
                let data = controller.availableData
                try #require(!data.isEmpty, "the shell ended, after \(seen)")
                seen += String(decoding: data, as: UTF8.self)
            }
            let end = try #require(seen.range(of: text))
            seen = String(seen[end.upperBound...])
        }

        /// Whether keys are shown and lines are handed over whole, as before.
        var isAsBefore: Bool {
            var settings = termios()
            guard unsafe tcgetattr(terminal, &settings) == 0 else { return false }
            return settings.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
        }
    }

    private let tool = Tool()
    private var history: String { tool.path + ".history" }

    init() {
        _ = tool.output("put", "apus", #"{"title":"Swifts","stars":4,"place":{"city":"Rome"}}"#)
        _ = tool.output("put", "bubo", #"{"title":"Owls","stars":5}"#)
    }

    @Test(.timeLimit(.minutes(1))) func linesAreCompletedEditedAndRecalled() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try Session(tool.path, history: history)
        try session.wait(for: "roost> ")
        #expect(!session.isAsBefore)
        // Tab completes the path, the keyword and the name.
        try session.type("sel\tti\tfrom _ wher\tpl\t.c\t = 'Rome'\r")
        try session.wait(for: "Swifts")
        try session.wait(for: "1 row in")
        try session.wait(for: "roost> ")
        // Up, change the beginning of the line, and ask again.
        try session.type("\u{1B}[A")
        try session.type("\u{01}\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C stars AS points, \r")
        try session.wait(for: "points")
        try session.wait(for: "roost> ")
        try session.type("get ap\t\r")
        try session.wait(for: "Swifts")
        try session.wait(for: "roost> ")
        try session.type("nonsense\u{03}")
        try session.wait(for: "^C")
        try session.wait(for: "roost> ")
        try session.type("\u{04}")
        session.process.waitUntilExit()
        #expect(session.process.terminationStatus == 0)
        #expect(session.isAsBefore)
        let kept = try String(contentsOfFile: history, encoding: .utf8)
        #expect(kept.contains("SELECT title from _ where place.city  = 'Rome'\n"), "\(kept)")
        #expect(kept.hasSuffix("get apus \n"), "\(kept)")
    }

    @Test(.timeLimit(.minutes(1)), arguments: [SIGTERM, SIGHUP])
    func aSignalPutsTheTerminalBack(signal: Int32) throws {
        let session = try Session(tool.path, history: "")
        try session.wait(for: "roost> ")
        #expect(!session.isAsBefore)
        kill(session.process.processIdentifier, signal)
        session.process.waitUntilExit()
        #expect(session.process.terminationReason == .uncaughtSignal)
        #expect(session.isAsBefore)
    }
}
