import Foundation
import Synchronization

/// Standard output, buffered, and standard error.
enum Console {
    private static let pending = Mutex<[UInt8]>([])
    private static let bufferSize = 1 << 16

    /// Prints a line. What can't be written is found out by ``flush()``.
    static func print(_ line: String) {
        try? write(Array(line.utf8) + [10])
        if isTerminal(STDOUT_FILENO) { try? flush() }
    }

    /// Writes bytes, some of them later.
    static func write(_ bytes: some Sequence<UInt8>) throws {
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
    static func complain(_ sentence: String) {
        FileHandle.standardError.write(Data("roost: \(sentence)\n".utf8))
    }

    /// Says on standard error what else there is to know.
    static func note(_ sentence: String) {
        FileHandle.standardError.write(Data("\(sentence)\n".utf8))
    }

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }
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
