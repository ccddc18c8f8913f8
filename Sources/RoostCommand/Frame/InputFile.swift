import Foundation

/// A file, or standard input, that a command reads.
final class InputFile {
    /// The path as it was given.
    let path: String
    /// Bytes in all; 0 when nobody knows.
    let size: UInt64
    private let descriptor: Int32
    /// Where it was when it was opened, which for standard input need not be the beginning; `nil` for what can be read only once.
    private let start: off_t?
    /// What errors call it.
    var name: String { path == "-" ? "Standard input" : path }

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
        let isRegular = facts.st_mode & S_IFMT == S_IFREG
        size = isRegular ? UInt64(facts.st_size) : 0
        start = isRegular ? lseek(descriptor, 0, SEEK_CUR) : nil
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Standard input by another descriptor, which is closed when the value goes.
    init(standardInput descriptor: Int32) {
        path = "-"
        size = 0
        start = nil
        self.descriptor = descriptor
    }

    /// All that is left of `other`, copied to a temporary file that has no name.
    private init(copying other: InputFile) throws {
        var template = Array(
            "\(NSTemporaryDirectory())/roost-import-\(String(repeating: "X", count: 6))".utf8CString)
        descriptor = unsafe template.withUnsafeMutableBufferPointer { unsafe mkstemp($0.baseAddress!) }
        path = other.path
        start = 0
        guard descriptor >= 0 else { throw CommandFailure.system("A temporary file can't be created") }
        unsafe unlink(template)
        var (piece, count): ([UInt8], UInt64) = ([], 0)
        do {
            repeat {
                try other.read(1 << 18, into: &piece)
                try OutputFile.write(piece[...], to: descriptor)
                count += UInt64(piece.count)
            } while !piece.isEmpty
        } catch let error as SystemError {
            close(descriptor)
            throw CommandFailure(
                "A temporary file can't be written: \(unsafe String(cString: strerror(error.number))).")
        }
        size = count
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw CommandFailure.system("A temporary file can't be read")
        }
    }

    /// This file, or where it can be read only once, as a pipe can, a temporary copy of what comes.
    func rewindable() throws -> InputFile { start == nil ? try InputFile(copying: self) : self }

    /// Goes back to where the file was when it was opened.
    func rewind() throws {
        guard let start, lseek(descriptor, start, SEEK_SET) == start else {
            throw CommandFailure.system("\(name) can't be read twice")
        }
    }

    /// Reads up to `count` bytes over `buffer`, as soon as there are any; `buffer` is empty at the end of the file.
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

    /// All of a text file.
    ///
    /// - Throws: ``CommandFailure`` where it can't be read, is larger than 16 MiB, or is not UTF-8.
    static func text(_ path: String) throws -> String {
        let bytes = try InputFile(path).readAll(limit: 16 << 20)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure("\(path) is not well-formed UTF-8.")
        }
        return text
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
