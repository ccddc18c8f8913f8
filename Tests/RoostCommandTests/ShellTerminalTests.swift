import Foundation
import Testing

@testable import RoostCommand

/// `roost shell` on a terminal, which is a pseudo terminal of the test.
@Suite(.serialized) struct ShellTerminalTests {
    private let tool = Tool()
    private var history: String { tool.path + ".history" }

    init() {
        _ = tool.output("put", "apus", #"{"title":"Swifts","stars":4,"place":{"city":"Rome"}}"#)
        _ = tool.output("put", "bubo", #"{"title":"Owls","stars":5}"#)
    }

    private func shell(_ options: String..., kind: String = "xterm") throws -> TerminalSession {
        try TerminalSession(["shell", tool.path] + options, history: history, kind: kind)
    }

    @Test(.timeLimit(.minutes(1))) func linesAreCompletedEditedAndRecalled() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell()
        let greeting = try session.wait(for: "roost> ")
        #expect(greeting.contains("has _default with 2 documents.") && greeting.contains("SELECT * FROM _"))
        #expect(!session.isAsBefore)
        // Tab completes the path, the keyword and the name.
        try session.type("sel\tti\tfrom _ wher\tpl\t.c\t = 'Rome';\r")
        try session.wait(for: "Swifts")
        try session.wait(for: "1 row in")
        try session.wait(for: "roost> ")
        // Up, change the beginning of the line, and ask again.
        try session.type("\u{1B}[A")
        try session.type("\u{01}\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C\u{1B}[C stars AS points, \r")
        try session.wait(for: "points")
        try session.wait(for: "1 row in")
        try session.wait(for: "roost> ")
        try session.type("get ap\t\r")
        try session.wait(for: "Swifts")
        try session.wait(for: "roost> ")
        try session.type("nonsense\u{03}")
        try session.wait(for: "^C")
        try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
        #expect(session.isAsBefore)
        let kept = try String(contentsOfFile: history, encoding: .utf8)
        #expect(kept.contains("SELECT title from _ where place.city  = 'Rome';\n"), "\(kept)")
        #expect(kept.hasSuffix("get apus \n"), "\(kept)")
    }

    @Test(.timeLimit(.minutes(1))) func aPropertyThatIsMisspeltIsPointedAt() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell()
        try session.wait(for: "roost> ")
        try session.type(
            "SELECT title, Stars AS s FROM _ AS d WHERE d.plce.city = 'Rome' AND nothing IS MISSING;\r")
        try session.wait(for: "None of the first 100 documents has Stars; did you mean stars?")
        let next = try session.wait(for: "None of the first 100 documents has plce; did you mean place?")
        // What has no like name may be rare, and what documents have is right.
        #expect(!next.contains("has nothing"), "\(next)")
        #expect(!(try session.wait(for: "roost> ")).contains("None of"))
        try session.type("exit\r")
        #expect(session.end() == 0)
    }

    @Test(.timeLimit(.minutes(1))) func aStatementGoesOnOverLinesAndIsOneEntry() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell()
        try session.wait(for: "roost> ")
        try session.type("SELECT title FROM _\r")
        try session.wait(for: "A query ends with ; or an empty line.")
        try session.wait(for: "   ...> ")
        try session.type("WHERE title = 'O\r")
        try session.wait(for: "   '..> ")
        // Ctrl-C gives it up, and so does Ctrl-D.
        try session.type("\u{03}")
        try session.wait(for: "roost> ")
        try session.type("SELECT 1\r")
        try session.wait(for: "   ...> ")
        try session.type("\u{04}")
        try session.wait(for: "roost> ")
        // What is pasted is one statement, and is found again by Ctrl-R.
        try session.type("\u{1B}[200~SELECT title\r\nFROM _ WHERE stars > 4;\u{1B}[201~")
        try session.wait(for: "SELECT title↵FROM _")
        try session.type("\r")
        try session.wait(for: "Owls")
        try session.wait(for: "1 row in")
        try session.wait(for: "roost> ")
        try session.type("\u{12}title")
        try session.wait(for: "(search \"title\")> SELECT title↵FROM _")
        try session.type("\r")
        try session.wait(for: "Owls")
        try session.wait(for: "roost> ")
        try session.type("exit;\r")
        #expect(session.end() == 0)
        #expect(LineHistory(path: history).entries == ["SELECT title\nFROM _ WHERE stars > 4;", "exit;"])
    }

    @Test(.timeLimit(.minutes(1))) func controlCStopsWhatIsDoneAndNotTheShell() throws {
        let documents = (0..<3000).map { #"{"_id":"n\#($0)","n":\#($0)}"# }.joined(separator: "\n")
        let file = tool.path + ".jsonl"
        defer { for path in [file, history] { try? FileManager.default.removeItem(atPath: path) } }
        try documents.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(tool.run("import", file).status == 0)
        let session = try shell()
        try session.wait(for: "roost> ")
        // Millions of rows, of which the first ones are seen.
        try session.type("SELECT a.n + b.n AS total FROM _ a JOIN _ b ON a.n < b.n + 100000;\r")
        try session.wait(for: "total\r\n")
        try session.type("\u{03}")
        try session.wait(for: "Stopped.")
        try session.wait(for: "roost> ")
        try session.type("EXPLAIN ANALYZE SELECT a.n FROM _ a JOIN _ b ON a.n < b.n + 100000;\r")
        // Nothing is shown while it runs; before, Ctrl-C would be a key of the line.
        while !session.isAsBefore { sched_yield() }
        try session.type("\u{03}")
        try session.wait(for: "Stopped.")
        try session.wait(for: "roost> ")
        try session.type("changes --follow\r")
        try session.wait(for: "n2999")
        try session.type("\u{03}")
        try session.wait(for: "Stopped.")
        try session.wait(for: "roost> ")
        try session.type("count\r")
        try session.wait(for: "3002")
        try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
        #expect(session.isAsBefore)
    }

    @Test(.timeLimit(.minutes(1))) func controlCharactersAreNotObeyed() throws {
        _ = tool.output("put", "zz", #"{"odd":"\u001b[2J\u009b"}"#)
        let session = try shell("--json")
        try session.wait(for: "roost> ")
        try session.type("SELECT odd FROM _ WHERE odd IS VALUED;\r")
        try session.wait(for: #"{"odd":"\u001b[2J\u009b"}"#)
        try session.type("mode table\r")
        try session.type("SELECT odd FROM _ WHERE odd IS VALUED;\r")
        try session.wait(for: "\n\"\\u001b[2J\\u009b\"")
        try session.wait(for: "1 row in")
    }

    /// A terminal that understands no escape sequences gets none.
    @Test(.timeLimit(.minutes(1))) func aPlainTerminalGetsPlainLines() throws {
        defer { try? FileManager.default.removeItem(atPath: history) }
        let session = try shell(kind: "dumb")
        var shown = try session.wait(for: "roost> ")
        try session.type("SELECT nonsense\u{03}")
        shown += try session.wait(for: "roost> ")
        try session.type("SELECT title FROM _ WHERE stars = 5\n")
        shown += try session.wait(for: "   ...> ")
        try session.type("\n")
        shown += try session.wait(for: "1 row in")
        shown += try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
        #expect(shown.contains("Owls") && !shown.contains("\u{1B}"), "\(shown)")
        #expect(session.isAsBefore)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [SIGTERM, SIGHUP])
    func aSignalPutsTheTerminalBack(signal: Int32) throws {
        let session = try shell()
        try session.wait(for: "roost> ")
        #expect(!session.isAsBefore)
        kill(session.process, signal)
        #expect(session.end() == 128 + signal)
        #expect(session.isAsBefore)
    }

    // MARK: Passphrases

    private func encrypt() throws {
        let file = tool.path + ".passphrase"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "swifts\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(tool.run("encrypt", "--new-passphrase-file", file).status == 0)
    }

    /// Commands of the shell are not asked for the passphrase once more.
    @Test(.timeLimit(.minutes(2))) func aWrongPassphraseIsAskedForAgain() throws {
        try encrypt()
        let session = try shell()
        try session.wait(for: "Passphrase of ")
        try session.type("owls\r")
        try session.wait(for: "That is not its passphrase.")
        try session.wait(for: "Passphrase of ")
        try session.type("swiftx\u{7F}s\r")
        try session.wait(for: "roost> ")
        try session.type("count\r")
        try session.wait(for: "l2\r\n")
        try session.wait(for: "roost> ")
        try session.type("\u{04}")
        #expect(session.end() == 0)
    }

    @Test(.timeLimit(.minutes(1))) func controlCAtTheQuestionEndsTheTool() throws {
        try encrypt()
        let session = try TerminalSession(["count", tool.path])
        try session.wait(for: "Passphrase of ")
        #expect(!session.isAsBefore)
        try session.type("swi\u{03}")
        #expect(session.end() == 130)
        #expect(session.isAsBefore)
    }
}

// MARK: - TerminalSession

/// The tool on a pseudo terminal that controls it: Ctrl-C reaches what runs there.
final class TerminalSession {
    let process: pid_t
    private let controller: FileHandle
    private let terminal: Int32
    private var seen = ""
    private var status: Int32?

    init(_ arguments: [String], history: String = "", kind: String = "xterm") throws {
        let descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.ENOTTY) }
        // The number of the terminal, which is unlocked: Linux's TIOCGPTN and TIOCSPTLCK.
        var (number, lock) = (CInt(0), CInt(0))
        guard unsafe ioctl(descriptor, 0x8004_5430, &number) == 0,
            unsafe ioctl(descriptor, 0x4004_5431, &lock) == 0
        else { throw POSIXError(.ENOTTY) }
        let name = "/dev/pts/\(number)"
        terminal = unsafe open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        controller = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var size = winsize(ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(descriptor, UInt(TIOCSWINSZ), &size)
        var environment = ProcessInfo.processInfo.environment
        environment["ROOST_HISTORY"] = history
        environment["TERM"] = kind
        process = try Self.spawn([Tool.program] + arguments, on: name, environment)
    }

    deinit {
        if status == nil {
            kill(process, SIGKILL)
            _ = end()
        }
        close(terminal)
    }

    /// Starts a session of which the terminal is the controlling one: the first that it opens.
    private static func spawn(_ command: [String], on terminal: String, _ variables: [String: String]) throws
        -> pid_t
    {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal, O_RDWR, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID of Linux.
        unsafe posix_spawnattr_setflags(&attributes, 0x80)
        var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        var environment = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let failure = unsafe posix_spawn(
            &process, command[0], &actions, &attributes, &arguments, &environment)
        guard failure == 0 else { throw POSIXError(.init(rawValue: failure) ?? .ENOENT) }
        return process
    }

    func type(_ keys: String) throws { try controller.write(contentsOf: Data(keys.utf8)) }

    /// Reads until `text` was shown after what was read before, and answers what came in between. Fails when nothing is shown for
    /// a minute.
    @discardableResult func wait(for text: String) throws -> String {
        while true {
            if let place = seen.range(of: text) {
                defer { seen = String(seen[place.upperBound...]) }
                return String(seen[..<place.lowerBound])
            }
            var waiting = pollfd(fd: controller.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let isReady = unsafe poll(&waiting, 1, 60_000) > 0
            try #require(isReady, "\(text.debugDescription) is waited for, after \(seen.debugDescription)")
            let data = controller.availableData
            try #require(!data.isEmpty, "the tool ended, after \(seen.debugDescription)")
            seen += String(decoding: data, as: UTF8.self)
        }
    }

    /// Waits for the end; the exit status, or 128 and the signal that ended it.
    func end() -> Int32 {
        if let status { return status }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        self.status = signal == 0 ? status >> 8 & 0xff : 128 + signal
        return self.status ?? -1
    }

    /// Whether keys are shown and lines are handed over whole, as before.
    var isAsBefore: Bool {
        var settings = termios()
        guard unsafe tcgetattr(terminal, &settings) == 0 else { return false }
        return settings.c_lflag & tcflag_t(ECHO | ICANON | ISIG) == tcflag_t(ECHO | ICANON | ISIG)
    }
}

// MARK: - LineEditorTests

/// Keys, and the history that they recall.
@Suite struct LineEditorTests {
    private func keys(_ text: String) -> [KeyPress] {
        var bytes = Array(text.utf8.reversed())
        var reader = KeyReader {
            bytes.popLast()
        } hasByte: {
            !bytes.isEmpty
        }
        var keys: [KeyPress] = []
        while let key = reader.next() { keys.append(key) }
        return keys
    }

    @Test func bytesBecomeKeys() {
        #expect(
            keys("aé\u{1}\u{1B}[A\u{1B}OH\u{1B}[1;5D\u{1B}b\u{1B}[3~\r") == [
                .text("aé"), .home, .up, .home, .wordLeft, .wordLeft, .deleteForward, .enter,
            ])
    }

    /// A paste is one key, whatever is in it, and its line ends are line feeds.
    @Test func aPasteIsOneKey() {
        #expect(
            keys("\u{1B}[200~a\r\nb\rc\n\n\u{1B}[A\t\u{1B}[201~x") == [
                .text("a\nb\nc\n\n\u{1B}[A\t"), .text("x"),
            ])
        #expect(keys("\u{1B}[200~\r\n\r\nx\u{1B}[201~") == [.text("\n\nx")])
        #expect(keys("\u{1B}[200~never ended") == [.text("never ended")])
    }

    @Test func controlCharactersAreShownAsSigns() {
        let line = EditedLine("a\nb\u{1B}c")
        #expect(line.part(within: 20).text == "a↵b␛c")
        #expect(line.part(within: 2).text == "␛c")
    }

    @Test func entriesOfShellsAtTheSameTimeAreKept() throws {
        let path = NSTemporaryDirectory() + "roost-history-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (first, second) = (LineHistory(path: path), LineHistory(path: path))
        first.add("SELECT 1\nFROM _;")
        second.add("count")
        second.add("count")
        second.add(" secret")
        first.add("ls")
        #expect(LineHistory(path: path).entries == ["SELECT 1\nFROM _;", "count", "ls"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func theHistoryIsSearchedBackwards() {
        let history = LineHistory(path: nil)
        for entry in ["get a", "count", "get b"] { history.add(entry) }
        var search = HistorySearch(history)
        search.append("get")
        #expect(search.found == "get b")
        search.searchOlder()
        #expect(search.found == "get a")
        search.searchOlder()
        #expect(search.found == "get a", "there is none that is older")
        search.append(" x")
        #expect(search.found == nil)
    }
}
