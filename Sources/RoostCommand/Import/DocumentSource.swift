import Fleece
import RoostBlobs

/// Where an import gets its documents from, one after the other.
protocol DocumentSource {
    /// What reads the file.
    var reader: TextReader { get }

    /// The property that has the IDs because those of the documents that are there have them from it; `nil` where documents say
    /// their IDs themselves.
    var usedKey: String? { get }

    /// The next document; `nil` after the last.
    ///
    /// - Throws: ``CommandFailure`` when the next document can't be found any more.
    mutating func next() throws -> ImportedText?
}

extension DocumentSource {
    var usedKey: String? { nil }
}

/// A source of JSON of which the first document has been looked at, to see whether it has its ID in another property than `_id`.
struct ExaminedSource: DocumentSource {
    private var source: any DocumentSource
    private var first: Result<ImportedText?, any Error>?
    let usedKey: String?

    var reader: TextReader { source.reader }

    /// - Parameter knownKey: The property that has the IDs of the documents that are there.
    init(_ source: any DocumentSource, knownKey: String) {
        var source = source
        let first = Result { try source.next() }
        self.source = source
        self.first = first
        guard case .success(.document(let text, _, _)) = first,
            let document = try? FleeceDocument(json: Array(text)), document.root.kind == .dictionary,
            !document["_id"].exists, document[knownKey].string != nil || document[knownKey].int != nil
        else {
            usedKey = nil
            return
        }
        usedKey = knownKey
    }

    mutating func next() throws -> ImportedText? {
        if let first = first.take() { return try first.get() }
        return try source.next()
    }
}

/// What a source finds in its file.
enum ImportedText {
    /// The JSON text of a document, and the line and the column where it begins, counted from 1, the column in bytes.
    case document(ArraySlice<UInt8>, line: Int, column: Int)
    /// Something that can't become a document, and why, with its place. What follows can.
    case unusable(String)
}

/// One JSON object a line. Lines of spaces are passed over.
struct LineSource: DocumentSource {
    let reader: TextReader

    mutating func next() throws -> ImportedText? {
        while true {
            let (line, column) = (reader.line, reader.column)
            guard let text = try reader.nextLine() else { return nil }
            if text.contains(where: { $0 != 32 && $0 != 9 && $0 != 13 }) {
                return .document(text, line: line, column: column)
            }
        }
    }
}

/// The elements of one JSON array.
///
/// Only looks for where elements end; what they are is for the JSON parser.
struct ArraySource: DocumentSource {
    let reader: TextReader
    private var hasBegun = false
    private var hasEnded = false

    init(reader: TextReader) { self.reader = reader }

    mutating func next() throws -> ImportedText? {
        guard !hasEnded else { return nil }
        var byte = try reader.peekPastSpace()
        if !hasBegun {
            guard byte == UInt8(ascii: "[") else { throw unexpected("an array, which begins with [,") }
            hasBegun = true
            _ = try reader.next()
            byte = try reader.peekPastSpace()
            if byte == UInt8(ascii: "]") { return try end() }
        }
        let (line, column) = (reader.line, reader.column)
        var element: [UInt8] = []
        var (depth, isInString, isEscaped) = (0, false, false)
        while let byte = try reader.peek() {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") {
                if byte == UInt8(ascii: "]") { _ = try end() } else { _ = try reader.next() }
                return .document(element[...], line: line, column: column)
            } else {
                switch byte {
                case UInt8(ascii: "\""): isInString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
            }
            element.append(byte)
            guard element.count <= TextReader.longestLine else {
                throw CommandFailure(
                    "The element that begins in line \(line) is larger than a document can be.")
            }
            _ = try reader.next()
        }
        throw unexpected("the end of the array, ],")
    }

    /// Goes past the end of the array, behind which nothing may stand.
    private mutating func end() throws -> ImportedText? {
        hasEnded = true
        _ = try reader.next()
        guard try reader.peekPastSpace() == nil else { throw unexpected("the end of the file") }
        return nil
    }

    private func unexpected(_ expected: String) -> CommandFailure {
        CommandFailure("Line \(reader.line), column \(reader.column): \(expected) is expected here.")
    }
}

// MARK: - TextReader

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

// MARK: - InputContent

/// What a file holds, piece by piece: its bytes, or what they decompress to where they are gzip (RFC 1952), of one member or more.
struct InputContent {
    private static let pieceSize = 1 << 18
    /// Of gzip less is read at a time, since it may become a thousand times as much.
    private static let compressedPieceSize = 1 << 14

    private let file: InputFile
    private let inflater: Inflater?
    private var first: [UInt8]
    /// Bytes of the file read so far.
    private(set) var position: UInt64 = 0

    init(_ file: InputFile) throws {
        self.file = file
        first = []
        var piece: [UInt8] = []
        repeat {
            try file.read(Self.compressedPieceSize, into: &piece)
            first += piece
        } while first.count < 2 && !piece.isEmpty
        inflater = first.starts(with: [0x1F, 0x8B]) ? Inflater(members: .any) : nil
    }

    /// Reads the next piece over `piece`, which is empty at the end.
    mutating func read(into piece: inout [UInt8]) throws {
        guard let inflater else { return try readStored(Self.pieceSize, into: &piece) }
        var stored: [UInt8] = []
        piece.removeAll(keepingCapacity: true)
        while piece.isEmpty {
            try readStored(Self.compressedPieceSize, into: &stored)
            do throws(BlobError) {
                guard !stored.isEmpty else { return try inflater.finish() }
                let bytes = stored
                piece += try inflater.decompress(bytes)
            } catch {
                throw CommandFailure("\(file.name) is not whole, or not gzip: it can't be decompressed.")
            }
        }
    }

    private mutating func readStored(_ count: Int, into piece: inout [UInt8]) throws {
        if first.isEmpty {
            try file.read(count, into: &piece)
        } else {
            piece = first
            first = []
        }
        position += UInt64(piece.count)
    }
}
