import Foundation
import Synchronization

/// Standard output, buffered, and standard error.
enum Console {
    private static let pending = Mutex<[UInt8]>([])
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

    /// Prints a line. What can't be written is found out by ``flush()``.
    static func print(_ line: String) {
        try? write(Array(line.utf8) + [10])
        if isTerminal(STDOUT_FILENO) { try? flush() }
    }

    /// Writes bytes, some of them later.
    static func write(_ bytes: some Sequence<UInt8>) throws {
        if let collector { return collector.append(bytes) }
        let isFull = pending.withLock { buffer in
            buffer.append(contentsOf: bytes)
            return buffer.count >= bufferSize
        }
        if isFull { try flush() }
    }

    /// Writes what waits.
    static func flush() throws {
        let bytes = pending.withLock { buffer in
            defer { buffer.removeAll(keepingCapacity: true) }
            return buffer
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw OutputClosed()
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Says on standard error what went wrong.
    static func complain(_ sentence: String) { note("roost: \(sentence)") }

    /// Says on standard error what else there is to know.
    static func note(_ sentence: String) {
        if let collector { return collector.append("\(sentence)\n".utf8) }
        FileHandle.standardError.write(Data("\(sentence)\n".utf8))
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

extension Console {
    /// Sends standard output to the file at `path` from now on.
    static func redirect(to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        guard descriptor >= 0, dup2(descriptor, STDOUT_FILENO) >= 0 else {
            throw CommandFailure("\(path) can't be written: \(unsafe String(cString: strerror(errno))).")
        }
        close(descriptor)
    }
}
