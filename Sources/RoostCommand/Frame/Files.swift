import Foundation
import RoostBlobs

/// A file, or standard input, that a command reads.
final class InputFile {
    /// The path as it was given.
    let path: String
    /// The number of bytes; 0 when it is unknown.
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

// MARK: - OutputFile

/// Files that a command writes because it was asked to.
enum OutputFile {
    /// Writes `text` to the file at `path`, in the place of what is there.
    static func write(_ text: String, to path: String) throws {
        let descriptor = try create(path)
        defer { close(descriptor) }
        do {
            try write(Array(text.utf8)[...], to: descriptor)
        } catch {
            throw CommandFailure.system("\(path) can't be written")
        }
    }

    /// Opens the file at `path`, empty or to be appended to.
    static func create(_ path: String, appending isAppending: Bool = false) throws -> Int32 {
        let mode = isAppending ? O_APPEND : O_TRUNC
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | mode | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw CommandFailure.system("\(path) can't be written") }
        return descriptor
    }

    /// Writes all bytes; leaves the reason in `errno` when it can't.
    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError(number: errno)
            }
            rest = rest.dropFirst(count)
        }
    }
}

/// Why a call to the system failed.
struct SystemError: Error {
    let number: Int32
}

// MARK: - GzipOutput

/// Compresses what is written, as one gzip member.
final class GzipOutput {
    private let deflater = Deflater()
    private let write: ([UInt8]) throws -> Void

    /// - Parameter write: takes what comes out.
    init(_ write: @escaping ([UInt8]) throws -> Void) { self.write = write }

    func append(_ bytes: [UInt8]) throws { try write(try deflater.compress(bytes)) }

    func finish() throws { try write(try deflater.finish()) }
}

// MARK: - FileFormat

/// What the name of a file tells of what it holds.
struct FileFormat {
    /// Whether it holds values with separators between them, by `.csv` or `.tsv`.
    let isCSV: Bool
    /// Whether tabs separate them.
    let hasTabs: Bool
    /// Whether it is compressed, by `.gz` at its end.
    let isGzip: Bool

    init(path: String) {
        var name = path.lowercased()[...]
        isGzip = name.hasSuffix(".gz")
        if isGzip { name = name.dropLast(3) }
        hasTabs = name.hasSuffix(".tsv")
        isCSV = hasTabs || name.hasSuffix(".csv")
    }
}
