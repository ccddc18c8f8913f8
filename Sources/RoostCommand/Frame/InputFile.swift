import Foundation

/// A file, or standard input, that a command reads.
final class InputFile {
    /// The path as it was given.
    let path: String
    /// Bytes in all; 0 when nobody knows.
    let size: UInt64
    private let descriptor: Int32
    /// What errors call it.
    private var name: String { path == "-" ? "Standard input" : path }

    /// Opens the file; `-` is standard input.
    ///
    /// - Throws: ``CommandFailure``, which says what is wrong with the path.
    init(_ path: String) throws {
        self.path = path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure.system("\(path) can't be read") }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else {
            throw CommandFailure.system("\(path) can't be read")
        }
        guard facts.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure("\(path) is a directory. Give a file.")
        }
        size = facts.st_mode & S_IFMT == S_IFREG ? UInt64(facts.st_size) : 0
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Reads up to `count` bytes over `buffer`, which is empty at the end of the file.
    func read(_ count: Int, into buffer: inout [UInt8]) throws {
        while true {
            if buffer.count != count { buffer = [UInt8](repeating: 0, count: count) }
            let done = unsafe buffer.withUnsafeMutableBytes {
                unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
            }
            guard done < 0 else { return buffer.removeLast(count - done) }
            guard errno == EINTR else { throw CommandFailure.system("\(name) can't be read") }
        }
    }

    /// Everything that is left.
    ///
    /// - Throws: ``CommandFailure`` when it is more than `limit` bytes.
    func readAll(limit: Int) throws -> [UInt8] {
        var (all, piece): ([UInt8], [UInt8]) = ([], [])
        repeat {
            try read(1 << 18, into: &piece)
            all += piece
            guard all.count <= limit else {
                throw CommandFailure("\(name) has more than \(Size.text(UInt64(limit))).")
            }
        } while !piece.isEmpty
        return all
    }
}

extension CommandFailure {
    /// What the system says of a call that failed just now, behind `what`.
    static func system(_ what: String) -> CommandFailure {
        CommandFailure("\(what): \(unsafe String(cString: strerror(errno))).")
    }
}
