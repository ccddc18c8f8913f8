/// Takes a multipart body apart (RFC 2046, section 5.1). Does no input or output itself: see ``MultipartReader``.
public struct MultipartParser: Sendable {
    /// What was recognised.
    public enum Event: Sendable, Equatable {
        /// A part begins.
        case part(HTTPHeaders)
        /// Some of its body.
        case data([UInt8])
        /// The part is over.
        case endOfPart
        /// The last part is over; what follows is passed over.
        case end
    }

    private enum State {
        case preamble
        case afterDelimiter
        case headers
        case data
        case epilogue
    }

    /// How large the fields of a part may be, in bytes.
    private static let longestHead = 16 << 10

    private let delimiter: [UInt8]
    private var state = State.preamble
    private var buffer: [UInt8]
    private var start = 0

    /// - Parameter boundary: The parameter of the body's `Content-Type`, 1 to 200 bytes.
    /// - Throws: ``WireError`` 400 for a boundary that can't be one.
    public init(boundary: String) throws(WireError) {
        guard (1...200).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { throw WireError(400, "The boundary of a multipart body has 1 to 200 printable characters.") }
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter may stand at the very beginning, without a line's end before it.
        buffer = [13, 10]
    }

    /// Takes bytes as they come.
    public mutating func receive(_ bytes: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// What comes next; `nil` when more bytes are needed.
    ///
    /// - Throws: ``WireError`` 400.
    public mutating func next() throws(WireError) -> Event? {
        while true {
            switch state {
            case .preamble:
                guard let found = find(delimiter) else {
                    start = max(start, buffer.count - delimiter.count + 1)
                    return nil
                }
                start = found + delimiter.count
                state = .afterDelimiter
            case .afterDelimiter:
                guard buffer.count - start >= 2 else { return nil }
                if buffer[start] == UInt8(ascii: "-"), buffer[start + 1] == UInt8(ascii: "-") {
                    state = .epilogue
                    return .end
                }
                guard let end = find([13, 10]) else {
                    guard buffer.count - start <= 128 else { throw Self.malformed("a delimiter") }
                    return nil
                }
                guard buffer[start..<end].allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else {
                    throw Self.malformed("a delimiter")
                }
                // The line's end stays: without fields it is the first half of the empty line.
                start = end
                state = .headers
            case .headers:
                guard let end = find([13, 10, 13, 10]) else {
                    guard buffer.count - start <= Self.longestHead else { throw Self.malformed("a head") }
                    return nil
                }
                let fields = try Self.fields(buffer[start..<end])
                start = end + 4
                state = .data
                return .part(fields)
            case .data: return takeData()
            case .epilogue:
                start = buffer.count
                return nil
            }
        }
    }

    private mutating func takeData() -> Event? {
        if let found = find(delimiter) {
            guard found == start else { return take(upTo: found) }
            start = found + delimiter.count
            state = .afterDelimiter
            return .endOfPart
        }
        // The last bytes may be the beginning of a delimiter.
        return take(upTo: buffer.count - delimiter.count + 1)
    }

    private mutating func take(upTo end: Int) -> Event? {
        guard end > start else { return nil }
        defer { start = end }
        return .data(Array(buffer[start..<end]))
    }

    private static func fields(_ head: ArraySlice<UInt8>) throws(WireError) -> HTTPHeaders {
        var fields: [(String, String)] = []
        for line in head.split(separator: 10) {
            let line = line.last == 13 ? line.dropLast() : line
            if !line.isEmpty { fields.append(try Syntax.field(line)) }
        }
        return HTTPHeaders(fields)
    }

    /// The first place of `pattern` in what was not dealt with. O(n).
    private func find(_ pattern: [UInt8]) -> Int? {
        let last = buffer.count - pattern.count
        var index = start
        while index <= last {
            guard let candidate = buffer[index...last].firstIndex(of: pattern[0]) else { return nil }
            if buffer[candidate..<candidate + pattern.count].elementsEqual(pattern) { return candidate }
            index = candidate + 1
        }
        return nil
    }

    private static func malformed(_ what: String) -> WireError {
        WireError(400, "The multipart body has \(what) that can't be understood.")
    }
}
