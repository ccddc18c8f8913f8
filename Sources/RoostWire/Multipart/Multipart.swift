/// Reads the parts of a multipart body as they arrive, each as a stream of its own, without holding any in memory.
///
/// A part must be read before the next one is requested; the rest of it is skipped.
public actor MultipartReader {
    /// One part.
    public struct Part: Sendable {
        /// Its fields.
        public let headers: HTTPHeaders
        /// Its content; may be a multipart body itself.
        public let body: any BodyStream
    }

    private let source: any BodyStream
    private var parser: MultipartParser
    private var isInPart = false
    private var hasEnded = false
    /// How many parts were begun; a stream of an older one has ended.
    private var number = 0

    /// - Parameters:
    ///   - source: The body.
    ///   - type: Its `Content-Type`, with a boundary.
    /// - Throws: ``WireError`` 400 without a boundary.
    public init(_ source: any BodyStream, type: MediaType) throws(WireError) {
        guard let boundary = type.parameters["boundary"] else {
            throw WireError(400, "The Content-Type of a multipart body has to name its boundary.")
        }
        self.source = source
        parser = try MultipartParser(boundary: boundary)
    }

    /// The next part; `nil` after the last.
    ///
    /// - Throws: ``WireError`` 400 for what can't be understood or ends early; what the body throws.
    public func nextPart() async throws -> Part? {
        while !hasEnded {
            switch try await event() {
            case .part(let headers):
                isInPart = true
                number += 1
                return Part(headers: headers, body: PartBody(reader: self, number: number))
            case .data: break
            case .endOfPart: isInPart = false
            case .end: hasEnded = true
            }
        }
        return nil
    }

    fileprivate func nextBytes(ofPart number: Int) async throws -> [UInt8]? {
        guard isInPart, number == self.number else { return nil }
        guard case .data(let bytes) = try await event() else {
            isInPart = false
            return nil
        }
        return bytes
    }

    private func event() async throws -> MultipartParser.Event {
        while true {
            if let event = try parser.next() { return event }
            guard let bytes = try await source.next() else {
                throw WireError(400, "The multipart body ends before its last boundary.")
            }
            parser.receive(bytes)
        }
    }
}

private struct PartBody: BodyStream {
    let reader: MultipartReader
    let number: Int

    func next() async throws -> [UInt8]? { try await reader.nextBytes(ofPart: number) }
}

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

/// A multipart body made of parts that are made as they are sent.
public actor MultipartBody: BodyStream {
    /// One part.
    public struct Part: Sendable {
        /// Its fields.
        public let headers: HTTPHeaders
        /// Its content, the length of which may be known.
        public let body: HTTPResponse.Body

        /// A part.
        public init(headers: HTTPHeaders, body: HTTPResponse.Body) {
            self.headers = headers
            self.body = body
        }

        fileprivate var length: UInt64? {
            switch body {
            case .none: 0
            case .bytes(let bytes): UInt64(bytes.count)
            case .stream(_, let length): length
            }
        }
    }

    private let boundary: String
    private let makePart: @Sendable (Int) async throws -> Part?
    private var index = 0
    private var current: (any BodyStream)?
    private var hasEnded = false

    /// Parts that are made one after another.
    ///
    /// - Parameters:
    ///   - boundary: Separates the parts, and must occur in none of them: take a random one.
    ///   - makePart: Makes the part of a number, counted from 0; `nil` after the last.
    public init(boundary: String, _ makePart: @escaping @Sendable (Int) async throws -> Part?) {
        self.boundary = boundary
        self.makePart = makePart
    }

    /// Parts that are there.
    public init(boundary: String, _ parts: [Part]) {
        self.init(boundary: boundary) { $0 < parts.count ? parts[$0] : nil }
    }

    /// How long the body of `parts` is in bytes, where all their lengths are known.
    public static func length(boundary: String, _ parts: [Part]) -> UInt64? {
        var sum = UInt64(ending(boundary).count)
        for (index, part) in parts.enumerated() {
            guard let length = part.length else { return nil }
            sum += UInt64(head(part, boundary, isFirst: index == 0).count) + length
        }
        return sum
    }

    /// The next bytes.
    public func next() async throws -> [UInt8]? {
        if let stream = current {
            if let bytes = try await stream.next() { return bytes }
            current = nil
        }
        guard !hasEnded else { return nil }
        guard let part = try await makePart(index) else {
            hasEnded = true
            return Self.ending(boundary)
        }
        var bytes = Self.head(part, boundary, isFirst: index == 0)
        index += 1
        switch part.body {
        case .none: break
        case .bytes(let content): bytes += content
        case .stream(let stream, _): current = stream
        }
        return bytes
    }

    private static func head(_ part: Part, _ boundary: String, isFirst: Bool) -> [UInt8] {
        MessageEncoder.lines(part.headers, after: "\(isFirst ? "" : "\r\n")--\(boundary)\r\n")
    }

    private static func ending(_ boundary: String) -> [UInt8] { Array("\r\n--\(boundary)--".utf8) }
}
