/// Reads a text file, or standard input, by lines or by bytes, with bounded memory.
///
/// A byte order mark at the beginning is passed over.
final class TextReader {
    /// A longer line is refused: a document of that size would not be stored either.
    static let longestLine = 1 << 30
    private static let pieceSize = 1 << 18

    private let file: InputFile
    private var buffer: [UInt8] = []
    private var piece: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// Bytes read so far.
    private(set) var position: UInt64 = 0
    /// The number of the line that the next byte is in, counted from 1.
    private(set) var line = 1
    /// The column of the next byte, in bytes from 1.
    private(set) var column = 1

    var size: UInt64 { file.size }

    /// - Throws: ``CommandFailure`` for a file that can't be read, or is text in UTF-16.
    init(_ path: String) throws {
        file = try InputFile(path)
        while buffer.count < 3, try fill() {}
        if buffer.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        if buffer.starts(with: [0xFF, 0xFE]) || buffer.starts(with: [0xFE, 0xFF]) {
            throw CommandFailure("\(path) is text in UTF-16. Convert it to UTF-8 first, with iconv for one.")
        }
    }

    /// Reads more; `false` at the end.
    private func fill() throws -> Bool {
        guard !isAtEnd else { return false }
        buffer.removeFirst(start)
        start = 0
        try file.read(Self.pieceSize, into: &piece)
        isAtEnd = piece.isEmpty
        position += UInt64(piece.count)
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
}
