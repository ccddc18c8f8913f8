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
    ///   - boundary: What stands between the parts and in none of them: take a random one.
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
