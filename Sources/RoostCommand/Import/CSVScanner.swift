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
