import Fleece
import Foundation
import Roost
import Synchronization

/// Standard output, buffered, and standard error.
enum Console {
    private struct Output {
        var pending: [UInt8] = []
        var path = "Standard output"
        /// Why something could not be written. Nothing is written after it.
        var failure: SystemError?
    }

    private static let output = Mutex(Output())
    private static let bufferSize = 1 << 16

    /// Takes what is printed and complained of by this task, where it is to go nowhere else.
    final class Collector: Sendable {
        private let collected = Mutex([UInt8]())

        var content: String { String(decoding: bytes, as: UTF8.self) }

        var bytes: [UInt8] { collected.withLock { $0 } }

        func append(_ bytes: some Sequence<UInt8>) {
            collected.withLock { $0 += Array(bytes) }
        }
    }

    @TaskLocal static var collector: Collector?
    /// Takes what goes to a file in the place of standard output, where that is collected.
    @TaskLocal private static var redirected: Collector?

    /// Shows what goes to a terminal page by page.
    @TaskLocal static var pager: Pager?

    /// What complaints begin with: the place of the input that is being carried out.
    @TaskLocal static var place = ""

    /// Prints a line, with control characters escaped on a terminal. That it can't be written is reported by the ``flush()`` that
    /// ends the program.
    static func print(_ line: String) { print(line, end: "\n") }

    /// Prints a line with another end.
    static func print(_ line: String, end: String) {
        printPainted(isTerminal(STDOUT_FILENO) ? ControlCharacters.escaped(in: line) : line, end: end)
    }

    /// Prints a line as it is, colours included. Whoever painted it has escaped what was in it.
    static func printPainted(_ line: String, end: String = "\n") {
        guard pager?.admits(line) ?? true else { return }
        try? write((line + end).utf8)
        if isTerminal(STDOUT_FILENO) { try? flush() }
    }

    /// Writes bytes, some of them later.
    ///
    /// - Throws: as ``flush()``.
    static func write(_ bytes: some Sequence<UInt8>) throws {
        if let destination = redirected ?? collector { return destination.append(bytes) }
        let isFull = output.withLock { output in
            output.pending.append(contentsOf: bytes)
            return output.pending.count >= bufferSize
        }
        if isFull { try flush() }
    }

    /// Writes what waits.
    ///
    /// - Throws: ``OutputClosed``, or ``CommandFailure`` when it can't be written, now or at an earlier call.
    static func flush() throws {
        let (failure, path) = output.withLock { output in
            if output.failure == nil {
                do {
                    try OutputFile.write(output.pending[...], to: STDOUT_FILENO)
                } catch let error as SystemError {
                    output.failure = error
                } catch {}
            }
            output.pending.removeAll(keepingCapacity: true)
            return (output.failure, output.path)
        }
        guard let failure else { return }
        guard failure.number != EPIPE else { throw OutputClosed() }
        throw CommandFailure("\(path) can't be written: \(unsafe String(cString: strerror(failure.number))).")
    }

    /// Sends standard output to the file at `path` while `body` runs; to where it goes already if there is no path.
    ///
    /// - Parameter isAppending: whether what the file holds is kept.
    static func redirecting(
        to path: String?, appending isAppending: Bool = false, _ body: () throws -> Void
    ) throws {
        guard let path, path != "-" else { return try body() }
        try flush()
        let descriptor = try OutputFile.create(path, appending: isAppending)
        defer { close(descriptor) }
        guard collector == nil else {
            let collected = Collector()
            try $redirected.withValue(collected) { try body() }
            return try FileHandle(fileDescriptor: descriptor).write(contentsOf: Data(collected.bytes))
        }
        let before = dup(STDOUT_FILENO)
        guard before >= 0, dup2(descriptor, STDOUT_FILENO) >= 0 else {
            throw CommandFailure.system("\(path) can't be written")
        }
        let name = output.withLock { output in
            defer { output.path = path }
            return output.path
        }
        defer {
            try? flush()
            dup2(before, STDOUT_FILENO)
            close(before)
            output.withLock { $0 = Output(path: name) }
        }
        try body()
        try flush()
    }

    /// Says on standard error what went wrong.
    static func complain(_ sentence: String) { note("roost: \(place)\(sentence)") }

    /// Says on standard error what else there is to know.
    static func note(_ sentence: String) { noteAsIs(ControlCharacters.escaped(in: sentence)) }

    /// Says on standard error what may help, more faintly where it can.
    static func hint(_ sentence: String) {
        let text = ControlCharacters.escaped(in: sentence)
        noteAsIs(isTerminal(STDERR_FILENO) && hasColours ? "\u{1B}[2m\(text)\u{1B}[0m" : text)
    }

    private static func noteAsIs(_ line: String) {
        if let collector { return collector.append("\(line)\n".utf8) }
        // A failure to write this can't be reported.
        try? OutputFile.write(Array("\(line)\n".utf8)[...], to: STDERR_FILENO)
    }

    static func isTerminal(_ descriptor: Int32) -> Bool { collector == nil && isatty(descriptor) == 1 }

    /// Whether standard output shows colours, and NO_COLOR is not set (no-color.org).
    static var hasColours: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isTerminal(STDOUT_FILENO) && (environment["NO_COLOR"] ?? "").isEmpty
            && environment["TERM"] != "dumb"
    }
}

/// Whoever reads the output has gone.
struct OutputClosed: Error {}

// MARK: - ControlCharacters

/// Characters that a terminal obeys instead of showing them.
enum ControlCharacters {
    static func contains(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value
    }

    /// The text with control characters as JSON escapes them (`\u001b`), except line ends and tabs.
    static func escaped(in text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                result.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// How JSON writes a control character that has no shorter form.
    static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\n" && scalar != "\t" && contains(scalar)
    }
}

// MARK: - ErrorMessage

/// Sentences that tell a user of errors.
enum ErrorMessage {
    /// What is wrong with JSON text that is a part of a file, with its place in the file.
    ///
    /// - Parameters:
    ///   - line: Where the text begins, counted from 1.
    ///   - column: The column where it begins in that line, in bytes from 1.
    static func text(of error: DatabaseError, line: Int, column: Int = 1) -> String {
        guard let cause = error.underlyingError as? FleeceError, let innerLine = cause.line,
            let innerColumn = cause.column
        else { return "Line \(line): \(error)" }
        let place = innerLine == 1 ? column + innerColumn - 1 : innerColumn
        return "Line \(line + innerLine - 1), column \(place): \(cause.message)"
    }
}
