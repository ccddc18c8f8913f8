import Roost

/// The records of a CSV file, one after the other, after the first, which names the columns.
final class CSVReader {
    let reader: TextReader
    /// The names in the first record.
    private(set) var names: [String] = []
    private var scanner: CSVScanner
    private var record: ArraySlice<UInt8> = []
    /// The line that the record begins in, counted from 1.
    private(set) var line = 1
    private var nextLine = 1

    var fields: [CSVScanner.Field] { scanner.fields }
    /// Whether a quotation mark of the record is never closed.
    var isUnclosed: Bool { scanner.isUnclosed }

    /// Reads the first record.
    ///
    /// - Parameter separator: What is between fields; `nil` for the one of comma, semicolon and tab that the first record has most of.
    init(_ reader: TextReader, separator: UInt8?) throws {
        self.reader = reader
        scanner = CSVScanner(separator: UInt8(ascii: ","), endsAtUnicode: true)
        try readNames(separator)
    }

    /// Begins again after the first record.
    func rewind() throws {
        try reader.rewind()
        (line, nextLine) = (1, 1)
        try readNames(scanner.separator)
    }

    private func readNames(_ separator: UInt8?) throws {
        guard try reader.peekPastSpace() != nil else {
            throw CommandFailure("The file is empty; its first line should name the columns.")
        }
        nextLine = reader.line
        let candidates = separator.map { [$0] } ?? [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        var scanners = candidates.map { CSVScanner(separator: $0, endsAtUnicode: true) }
        var best = 0
        var lengths = scanners.map { _ in Int?.none }
        record = unsafe try reader.take(limit: 1 << 20) { bytes, isLast in
            for index in scanners.indices where lengths[index] == nil {
                lengths[index] = unsafe scanners[index].scan(bytes, isLast: isLast)
                if lengths[index] == nil { return nil }
            }
            best = scanners.indices.reduce(0) {
                scanners[$1].fields.count > scanners[$0].fields.count ? $1 : $0
            }
            return lengths[best]
        }
        scanner = scanners[best]
        line = nextLine
        guard !isUnclosed else { throw CommandFailure(unclosed) }
        nextLine += scanner.lines
        names = try fields.indices.map { index in
            guard let name = String(validating: content(of: index), as: UTF8.self) else {
                throw CommandFailure("Line \(line): \(notUTF8)")
            }
            guard !name.isEmpty else {
                throw CommandFailure("Line \(line): column \(index + 1) has no name.")
            }
            return name
        }
        guard Set(names.map { ByteKey($0) }).count == names.count else {
            throw CommandFailure("Line \(line): two columns have the same name.")
        }
        scanner = CSVScanner(separator: scanner.separator, endsAtUnicode: scanner.hasUnicodeEnd)
    }

    /// Reads the next record; `false` at the end. Lines of spaces are passed over.
    func next() throws -> Bool {
        repeat {
            scanner.reset()
            record = []
            var hasMore = false
            record = unsafe try reader.take(limit: TextReader.longestLine) { [self] bytes, isLast in
                hasMore = !bytes.isEmpty
                return unsafe scanner.scan(bytes, isLast: isLast)
            }
            guard hasMore else { return false }
            line = nextLine
            nextLine += scanner.lines
        } while isBlank
        return true
    }

    private var isBlank: Bool {
        fields.count == 1 && !fields[0].isQuoted && bytes(of: 0).allSatisfy { $0 == UInt8(ascii: " ") }
    }

    /// The bytes of a field as they are in the file.
    func bytes(of index: Int) -> ArraySlice<UInt8> {
        record[record.startIndex + fields[index].start..<record.startIndex + fields[index].end]
    }

    /// What a field says.
    func content(of index: Int) -> [UInt8] {
        fields[index].isQuoted ? CSVScanner.content(of: bytes(of: index)) : Array(bytes(of: index))
    }

    /// Why the record can't become a document, whatever its columns are; `nil` where it can.
    func problem() -> String? {
        if isUnclosed { return unclosed }
        if fields.count > names.count {
            return
                "Line \(line): \(Count.text(fields.count, "field")) where the first line names \(Count.text(names.count, "column"))."
        }
        let isText = record.allSatisfy { $0 < 0x80 } || String(validating: record, as: UTF8.self) != nil
        return isText ? nil : "Line \(line): \(notUTF8)"
    }

    private var unclosed: String {
        "A quotation mark in the record that begins in line \(line) is never closed."
    }

    private var notUTF8: String {
        "a field is not well-formed UTF-8. Convert the file first, with iconv for one."
    }
}

// MARK: - CSVScanner

/// Finds where records of a CSV file (RFC 4180) and their fields end, in bytes that come in pieces.
///
/// A record ends with LF, CRLF or CR, and where the first line does so with U+2028, U+2029 or U+0085, outside of quotation marks.
struct CSVScanner {
    /// Where a field is, in bytes from the beginning of its record, quotation marks and all.
    struct Field {
        var start: Int
        var end: Int
        /// Whether it begins with a quotation mark.
        var isQuoted = false
    }

    private enum State { case atStart, plain, quoted, afterQuote }

    let separator: UInt8
    /// Whether U+2028, U+2029 and U+0085 end a record.
    let endsAtUnicode: Bool
    private(set) var fields: [Field] = []
    /// How many lines the record goes over.
    private(set) var lines = 0
    /// Whether the record ended with one of the ends that only Unicode has.
    private(set) var hasUnicodeEnd = false
    private var place = 0
    private var state = State.atStart
    private var field = Field(start: 0, end: 0)

    /// Whether the file ended between quotation marks.
    var isUnclosed: Bool { state == .quoted }

    init(separator: UInt8, endsAtUnicode: Bool) {
        self.separator = separator
        self.endsAtUnicode = endsAtUnicode
    }

    /// Begins with the next record.
    mutating func reset() {
        fields.removeAll(keepingCapacity: true)
        (lines, hasUnicodeEnd, place, state) = (0, false, 0, .atStart)
        field = Field(start: 0, end: 0)
    }

    /// Goes on with a record.
    ///
    /// - Parameters:
    ///   - bytes: What has come of the record, and perhaps more.
    ///   - isLast: whether nothing comes after `bytes`.
    /// - Returns: The record's length with its end; `nil` when more is needed to tell.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) -> Int? {
        let count = bytes.count
        while place < count {
            let byte = unsafe bytes[place]
            if state == .quoted {
                if byte == UInt8(ascii: "\"") {
                    state = .afterQuote
                } else if byte == UInt8(ascii: "\n") {
                    lines += 1
                } else if byte == UInt8(ascii: "\r") {
                    guard place + 1 < count || isLast else { return nil }
                    if unsafe place + 1 == count || bytes[place + 1] != UInt8(ascii: "\n") { lines += 1 }
                }
                place += 1
                continue
            }
            if byte == separator {
                endField()
            } else if byte == UInt8(ascii: "\"") {
                if state == .atStart { field.isQuoted = true }
                state = state == .plain ? .plain : .quoted
            } else if byte == UInt8(ascii: "\n") {
                return end(1)
            } else if byte == UInt8(ascii: "\r") {
                guard place + 1 < count || isLast else { return nil }
                return unsafe end(place + 1 < count && bytes[place + 1] == UInt8(ascii: "\n") ? 2 : 1)
            } else if endsAtUnicode, byte == 0xE2 || byte == 0xC2 {
                guard place + 2 < count || isLast else { return nil }
                if let length = unsafe Self.unicodeEnd(bytes, place) {
                    hasUnicodeEnd = true
                    return end(length)
                }
                state = .plain
            } else {
                state = .plain
            }
            place += 1
        }
        guard isLast else { return nil }
        return end(0)
    }

    private mutating func endField() {
        field.end = place
        fields.append(field)
        field = Field(start: place + 1, end: place + 1)
        state = .atStart
    }

    /// Ends the record before the end of its line, of that length.
    private mutating func end(_ length: Int) -> Int {
        let isUnclosed = isUnclosed
        endField()
        if isUnclosed { state = .quoted }
        if length > 0 { lines += 1 }
        return place + length
    }

    /// How long the end of a line is that is there and that only Unicode has.
    private static func unicodeEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int? {
        if unsafe bytes[place] == 0xC2 {
            return unsafe place + 1 < bytes.count && bytes[place + 1] == 0x85 ? 2 : nil
        }
        guard place + 2 < bytes.count, unsafe bytes[place + 1] == 0x80 else { return nil }
        return unsafe bytes[place + 2] == 0xA8 || bytes[place + 2] == 0xA9 ? 3 : nil
    }

    /// What a field says: between quotation marks, of two that follow each other one counts.
    static func content(of field: ArraySlice<UInt8>) -> [UInt8] {
        let mark = UInt8(ascii: "\"")
        var content: [UInt8] = []
        content.reserveCapacity(field.count)
        var isInQuotes = false
        var place = field.startIndex
        while place < field.endIndex {
            let byte = field[place]
            if byte != mark || !isInQuotes && place > field.startIndex {
                content.append(byte)
            } else if !isInQuotes {
                isInQuotes = true
            } else if place + 1 < field.endIndex, field[place + 1] == mark {
                content.append(mark)
                place += 1
            } else {
                isInQuotes = false
            }
            place += 1
        }
        return content
    }
}
