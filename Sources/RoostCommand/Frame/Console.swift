import Foundation
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
        private let text = Mutex("")

        var content: String { text.withLock { $0 } }

        func append(_ bytes: some Sequence<UInt8>) {
            text.withLock { $0 += String(decoding: Array(bytes), as: UTF8.self) }
        }
    }

    @TaskLocal static var collector: Collector?

    /// Prints a line. That it can't be written is told by the ``flush()`` that ends the program.
    static func print(_ line: String) {
        try? write(Array(line.utf8) + [10])
        if isTerminal(STDOUT_FILENO) { try? flush() }
    }

    /// Writes bytes, some of them later.
    ///
    /// - Throws: as ``flush()``.
    static func write(_ bytes: some Sequence<UInt8>) throws {
        if let collector { return collector.append(bytes) }
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

    /// Sends standard output to the file at `path` from now on.
    static func redirect(to path: String) throws {
        let descriptor = try OutputFile.create(path)
        guard dup2(descriptor, STDOUT_FILENO) >= 0 else {
            throw CommandFailure.system("\(path) can't be written")
        }
        close(descriptor)
        output.withLock { $0.path = path }
    }

    /// Says on standard error what went wrong.
    static func complain(_ sentence: String) { note("roost: \(sentence)") }

    /// Says on standard error what else there is to know.
    static func note(_ sentence: String) {
        if let collector { return collector.append("\(sentence)\n".utf8) }
        // Where this can't be written, there is nobody to tell.
        try? OutputFile.write(Array("\(sentence)\n".utf8)[...], to: STDERR_FILENO)
    }

    static func isTerminal(_ descriptor: Int32) -> Bool { collector == nil && isatty(descriptor) == 1 }

    /// Whether standard output shows colours, and nobody asked it not to (no-color.org).
    static var hasColours: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isTerminal(STDOUT_FILENO) && (environment["NO_COLOR"] ?? "").isEmpty
            && environment["TERM"] != "dumb"
    }
}

/// Whoever reads the output has gone.
struct OutputClosed: Error {}
