/// Reads a text file, or standard input, by lines or by bytes, with bounded memory. What begins as gzip does is decompressed.
///
/// A byte order mark at the beginning is passed over.
final class TextReader {
    /// A longer line is refused: a document of that size would not be stored either.
    static let longestLine = 1 << 30

    private let file: InputFile
    private var content: InputContent
    private var buffer: [UInt8] = []
    private var piece: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The number of the line that the next byte is in, counted from 1.
    private(set) var line = 1
    /// The column of the next byte, in bytes from 1.
    private(set) var column = 1

    var size: UInt64 { file.size }

    /// Bytes of the file read so far.
    var position: UInt64 { content.position }

    /// - Parameter isReadTwice: whether ``rewind()`` is going to be called: what can be read only once is copied to a temporary file.
    /// - Throws: ``CommandFailure`` for a file that can't be read, or is text in UTF-16.
    init(_ path: String, isReadTwice: Bool = false) throws {
        let file = try InputFile(path)
        self.file = isReadTwice ? try file.rewindable() : file
        content = try InputContent(self.file)
        try begin()
    }

    private func begin() throws {
        while buffer.count < 3, try fill() {}
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        if buffer.starts(with: [0xFF, 0xFE]) || buffer.starts(with: [0xFE, 0xFF]) {
            throw CommandFailure(
                "\(file.path) is text in UTF-16. Convert it to UTF-8 first, with iconv for one.")
        }
    }

    /// Goes back to the beginning.
    func rewind() throws {
        try file.rewind()
        content = try InputContent(file)
        buffer.removeAll(keepingCapacity: true)
        (start, isAtEnd, line, column) = (0, false, 1, 1)
        try begin()
    }

    /// Reads more; `false` at the end.
    private func fill() throws -> Bool {
        guard !isAtEnd else { return false }
        buffer.removeFirst(start)
        start = 0
        try content.read(into: &piece)
        isAtEnd = piece.isEmpty
        buffer += piece
        return !isAtEnd
    }

    /// The next byte without going past it; `nil` at the end.
    func peek() throws -> UInt8? {
        while start == buffer.count { guard try fill() else { return nil } }
        return buffer[start]
    }

    /// The next byte; `nil` at the end.
    func next() throws -> UInt8? {
        guard let byte = try peek() else { return nil }
        start += 1
        column += 1
        if byte == UInt8(ascii: "\n") {
            line += 1
            column = 1
        }
        return byte
    }

    /// Goes past spaces, tabs and ends of lines; the byte after them, `nil` at the end.
    func peekPastSpace() throws -> UInt8? {
        while let byte = try peek() {
            guard byte == 32 || (9...13).contains(byte) else { return byte }
            _ = try next()
        }
        return nil
    }

    /// The rest of the line without its end; `nil` at the end of the file.
    func nextLine() throws -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { pass(end + 1) }
                return buffer[start..<end]
            }
            guard buffer.count - start <= Self.longestLine else {
                throw CommandFailure("Line \(line) is longer than \(Self.longestLine >> 20) MiB.")
            }
            let length = buffer.count - start
            if try fill() {
                searched = start + length
                continue
            }
            guard start < buffer.count else { return nil }
            defer { pass(buffer.count) }
            return buffer[start...]
        }
    }

    private func pass(_ end: Int) {
        start = end
        line += 1
        column = 1
    }

    /// Takes what comes next, as far as `length` says. ``line`` and ``column`` stay as they are.
    ///
    /// - Parameters:
    ///   - limit: how many bytes that may be.
    ///   - length: how many of the next bytes to take: called with those at hand, and whether they are the last ones; `nil` for more.
    func take(
        limit: Int, _ length: (UnsafeBufferPointer<UInt8>, _ isLast: Bool) throws -> Int?
    ) throws -> ArraySlice<UInt8> {
        while true {
            let found = try unsafe buffer.withUnsafeBufferPointer { bytes in
                unsafe try length(UnsafeBufferPointer(rebasing: bytes[start...]), isAtEnd)
            }
            if let found {
                defer { start += found }
                return buffer[start..<start + found]
            }
            guard buffer.count - start <= limit else {
                throw CommandFailure("A record is longer than \(Size.text(UInt64(limit))).")
            }
            _ = try fill()
        }
    }
}
