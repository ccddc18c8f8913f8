import Dispatch
import Foundation

/// A file that lines are appended to in the background, which may be renamed meanwhile and opened again.
final class LogFile: Sendable {
    private let queue = DispatchQueue(label: "roost.log")
    /// Stays the same when the file is opened again, so that no line meets a closed one.
    private let descriptor: Int32

    /// - Parameter path: the file, created with access for its owner alone if there is none; `-` is standard error.
    init(_ path: String) throws {
        descriptor = path == "-" ? STDERR_FILENO : try Self.open(path)
    }

    deinit { if descriptor != STDERR_FILENO { close(descriptor) } }

    private static func open(_ path: String) throws -> Int32 {
        let descriptor = unsafe Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure.system("\(path) can't be written") }
        return descriptor
    }

    /// Opens a path: from the next line on, lines go to the file that it names now.
    func reopen(_ path: String) throws {
        guard descriptor != STDERR_FILENO, path != "-" else { return }
        let new = try Self.open(path)
        defer { close(new) }
        guard dup2(new, descriptor) >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0 else {
            throw CommandFailure.system("\(path) can't be written")
        }
    }

    /// Appends a line. Where it can't be written, it is lost.
    func append(_ line: String) {
        queue.async { [descriptor] in
            try? OutputFile.write(Array("\(line)\n".utf8)[...], to: descriptor)
        }
    }

    /// Returns once all lines are written.
    func finish() { queue.sync {} }
}

/// What went wrong in a server that runs: a line for each message, with its time.
final class ErrorLog: Sendable {
    private let file: LogFile

    /// - Parameter path: as ``LogFile/init(_:)``.
    init(_ path: String) throws { file = try LogFile(path) }

    /// Appends a message, on one line and without what terminals obey.
    func append(_ message: String) {
        let time = Date.now.ISO8601Format(.init(includingFractionalSeconds: true))
        let line = ControlCharacters.escaped(in: message).split(separator: "\n").joined(separator: " ")
        file.append("\(time) roost: \(line)")
    }

    /// See ``LogFile/reopen(_:)``.
    func reopen(_ path: String) throws { try file.reopen(path) }

    /// Returns once all messages are written.
    func finish() { file.finish() }
}
