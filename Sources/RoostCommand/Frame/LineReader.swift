import Foundation

/// Reads a file, or standard input for `-`, line by line with bounded memory.
final class LineReader {
    /// A longer line is refused: a document of that size would not be stored either.
    static let longestLine = 1 << 30
    private static let pieceSize = 1 << 18

    private let file: FileHandle
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// Bytes read so far.
    private(set) var position: UInt64 = 0
    /// Bytes in all; 0 when nobody knows.
    let size: UInt64

    init(_ path: String) throws {
        guard path != "-" else {
            file = .standardInput
            size = 0
            return
        }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure("\(path) can't be read. Is there such a file, and may you read it?")
        }
        self.file = file
        let length = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        size = length?.uint64Value ?? 0
    }

    /// The next line without its end, `nil` after the last.
    func next() throws -> ArraySlice<UInt8>? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 10) {
                defer { start = end + 1 }
                return buffer[start..<end]
            }
            searched = buffer.count
            guard !isAtEnd else {
                defer { start = buffer.count }
                return start < buffer.count ? buffer[start...] : nil
            }
            guard buffer.count - start <= LineReader.longestLine else {
                throw CommandFailure("A line is longer than \(LineReader.longestLine >> 20) MiB.")
            }
            searched -= start
            buffer.removeFirst(start)
            start = 0
            guard let piece = try file.read(upToCount: LineReader.pieceSize), !piece.isEmpty else {
                isAtEnd = true
                continue
            }
            position += UInt64(piece.count)
            buffer.append(contentsOf: piece)
        }
    }
}
