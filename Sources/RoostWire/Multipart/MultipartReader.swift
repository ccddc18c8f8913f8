/// Reads the parts of a multipart body as they arrive, each as a stream of its own, without holding any in memory.
///
/// A part must be read before the next one is asked for; what is left of it is passed over.
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
