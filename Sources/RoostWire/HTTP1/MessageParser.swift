/// Takes the bytes of one side of a connection apart into messages of HTTP/1.1. Does no input or output itself.
///
/// Bytes go in by ``receive(_:)``, events come out of ``next()`` until it returns `nil`, which means that it needs more bytes. After an
/// error the connection can't be understood any more and has to be closed.
public struct MessageParser<Head: MessageHead>: Sendable {
    /// What was recognised.
    public enum Event: Sendable {
        /// A message begins.
        case head(Head, BodyFraming)
        /// Some of its body.
        case body([UInt8])
        /// The message is over; the next may follow.
        case end
    }

    private enum State {
        case head
        case counted(UInt64)
        case chunkLine
        case chunk(UInt64)
        case chunkEnd
        case trailer(Int)
        case untilClose
    }

    private let limits: MessageLimits
    private var state = State.head
    private var buffer: [UInt8] = []
    /// The first byte of the buffer that was not dealt with.
    private var start = 0
    /// Where the search for the end of the head goes on.
    private var searched = 0
    private var isOver = false
    /// How many empty lines were passed over since the last message.
    private var passedLines = 0
    /// The most empty lines that may precede a message.
    private static var mostPassedLines: Int { 16 }
    /// Set where responses have no body whatever they say, because they answer a HEAD.
    public var ignoresBodies = false

    /// Nothing received yet.
    public init(limits: MessageLimits = MessageLimits()) { self.limits = limits }

    /// How many bytes were received and not dealt with.
    public var pending: Int { buffer.count - start }

    /// Whether a message has begun that is not over.
    public var isInMessage: Bool {
        if case .head = state { return pending > 0 }
        return true
    }

    /// Removes what follows the last head, which is no HTTP any more after an upgrade.
    ///
    /// - Returns: The bytes that were received and not dealt with.
    public mutating func takeRest() -> [UInt8] {
        defer {
            buffer = []
            start = 0
            searched = 0
        }
        return Array(buffer[start...])
    }

    /// Takes bytes as they come.
    public mutating func receive(_ bytes: some Sequence<UInt8>) {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            searched = 0
        } else if start > 0 {
            buffer.removeFirst(start)
            searched = max(searched - start, 0)
        }
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// The other side has closed: the end of a body that goes on until then.
    ///
    /// - Throws: ``WireError`` when that cuts a message off.
    public mutating func close() throws(WireError) -> Event? {
        if case .untilClose = state {
            state = .head
            return .end
        }
        if isInMessage { throw WireError(400, "The connection was closed within a message.") }
        return nil
    }

    /// What comes next; `nil` when more bytes are needed.
    ///
    /// - Throws: ``WireError``.
    public mutating func next() throws(WireError) -> Event? {
        if isOver {
            isOver = false
            return .end
        }
        while true {
            switch state {
            case .head: return try takeHead()
            case .counted(let left): return takeBody(left) { $0 == 0 ? nil : .counted($0) }
            case .chunk(let left): return takeBody(left) { $0 == 0 ? .chunkEnd : .chunk($0) }
            case .untilClose: return takeBody(.max) { _ in .untilClose }
            case .chunkLine:
                guard let line = try takeLine(limits.chunkLine) else { return nil }
                let size = try Syntax.chunkSize(line)
                state = size == 0 ? .trailer(0) : .chunk(size)
            case .chunkEnd:
                guard let line = try takeLine(0) else { return nil }
                guard line.isEmpty else { throw WireError(400, "A chunk is longer than it says.") }
                state = .chunkLine
            case .trailer(let size):
                guard let line = try takeLine(limits.head - size) else { return nil }
                guard !line.isEmpty else {
                    state = .head
                    return .end
                }
                _ = try Syntax.field(line)
                state = .trailer(size + line.count + 2)
            }
        }
    }

    // MARK: Parts

    private mutating func takeHead() throws(WireError) -> Event? {
        // Empty lines before a request are passed over (RFC 9112, section 2.2).
        while passedLines < Self.mostPassedLines, pending > 1, buffer[start] == 13, buffer[start + 1] == 10 {
            passedLines += 1
            start += 2
            searched = start
        }
        guard let end = try findHeadEnd() else {
            guard pending <= limits.head else { throw tooLarge() }
            return nil
        }
        guard end - start <= limits.head else { throw tooLarge() }
        var lines = buffer[start..<end].split(separator: 10, omittingEmptySubsequences: false).map {
            $0.last == 13 ? $0.dropLast() : $0
        }
        lines.removeLast(2)
        start = end
        searched = end
        passedLines = 0
        guard lines.count - 1 <= limits.fields else { throw tooLarge() }
        var fields: [(String, String)] = []
        for line in lines.dropFirst() {
            guard line.first != 0x20, line.first != 0x09 else {
                throw WireError(400, "A field goes on in a second line, which is not permitted any more.")
            }
            fields.append(try Syntax.field(line))
        }
        let head = try Head(line: lines[0], fields: HTTPHeaders(fields), limits: limits)
        var framing = try head.framing()
        if ignoresBodies { framing = .none }
        switch framing {
        case .none, .length(0): isOver = true
        case .length(let count): state = .counted(count)
        case .chunked: state = .chunkLine
        case .untilClose: state = .untilClose
        }
        return .head(head, framing)
    }

    /// The index after the empty line that ends the head. Every line must end with CR LF, and neither may stand alone.
    private mutating func findHeadEnd() throws(WireError) -> Int? {
        var index = max(searched, start)
        defer { searched = index }
        while index < buffer.count {
            let byte = buffer[index]
            if byte == 10 {
                guard index > start, buffer[index - 1] == 13 else {
                    throw WireError(400, "A line ends with LF and not with CR LF.")
                }
                if index >= start + 3, buffer[index - 2] == 10 {
                    index += 1
                    return index
                }
            } else if byte == 0 || index > start && buffer[index - 1] == 13 {
                throw WireError(400, "A CR stands without LF, or there is a NUL.")
            }
            index += 1
        }
        return nil
    }

    private func tooLarge() -> WireError {
        let line = buffer[start...].prefix { $0 != 13 }
        if Head.self == RequestHead.self, line.count > limits.target {
            return WireError(414, "The target is longer than \(limits.target) bytes.")
        }
        return WireError(431, "The head is larger than \(limits.head) bytes or \(limits.fields) fields.")
    }

    private mutating func takeBody(_ left: UInt64, _ next: (UInt64) -> State?) -> Event? {
        guard pending > 0 else { return nil }
        let count = left < UInt64(pending) ? Int(left) : pending
        let piece = start == 0 && count == buffer.count ? buffer : Array(buffer[start..<start + count])
        start += count
        searched = start
        if let state = next(left == .max ? left : left - UInt64(count)) {
            self.state = state
        } else {
            state = .head
            isOver = true
        }
        return .body(piece)
    }

    /// A line within a chunked body, without its end.
    private mutating func takeLine(_ limit: Int) throws(WireError) -> ArraySlice<UInt8>? {
        let rest = buffer[start...]
        guard let end = rest.firstIndex(of: 10) else {
            guard rest.count <= limit + 1, rest.dropLast().allSatisfy({ $0 != 13 }) else {
                throw WireError(400, "A line of a chunked body is too long, or has a CR without LF.")
            }
            return nil
        }
        let line = rest[..<end]
        guard line.last == 13, line.dropLast().allSatisfy({ $0 != 13 }), line.count <= limit + 1 else {
            throw WireError(400, "A line of a chunked body does not end with CR LF, or is too long.")
        }
        start = end + 1
        searched = start
        return line.dropLast()
    }
}
