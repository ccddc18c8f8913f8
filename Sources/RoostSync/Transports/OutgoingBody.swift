import RoostWire

/// What follows the head of a request.
enum OutgoingBody: Sendable {
    case none
    case bytes([UInt8])
    /// The first pieces were taken from the stream already.
    case stream([[UInt8]], then: any BodyStream, length: UInt64?)

    /// The body of a request. One of a single piece becomes bytes, so that it can be sent again where a connection that was kept
    /// turns out to be closed.
    ///
    /// - Throws: What the body throws.
    init(of request: HTTPRequest) async throws {
        guard let stream = request.body else {
            self = ["GET", "HEAD", "DELETE"].contains(request.method) ? .none : .bytes([])
            return
        }
        guard let first = try await stream.next() else {
            self = .bytes([])
            return
        }
        guard let second = try await stream.next() else {
            self = .bytes(first)
            return
        }
        let length = request.headers["Content-Length"].flatMap { UInt64($0) }
        self = .stream([first, second], then: stream, length: length)
    }

    /// The same body from its beginning, for a session that has to send it once more; `nil` where it can't be made again.
    var again: OutgoingBody? {
        guard case .stream(_, let stream, let length) = self, let stream = stream as? RepeatableBody else {
            return nil
        }
        return .stream([], then: stream.again, length: length)
    }

    /// Hands over the pieces of a stream until `offer` wants no more; answers whether it took all.
    ///
    /// - Throws: What the stream throws; `interrupted` where it is not as long as it was announced.
    func deliver(to offer: (_ piece: [UInt8]) async -> Bool) async throws -> Bool {
        guard case .stream(let first, let rest, let length) = self else { return true }
        var count: UInt64 = 0
        var pieces = first[...]
        while true {
            let next = if let piece = pieces.popFirst() { piece as [UInt8]? } else { try await rest.next() }
            guard let piece = next else { break }
            count += UInt64(piece.count)
            guard count <= length ?? .max else { break }
            guard await offer(piece) else { return false }
        }
        guard count == length ?? count else {
            throw TransportError(
                .interrupted, "A body of \(count) bytes was announced as \(length ?? 0).")
        }
        return true
    }
}

/// A body that can be made again, as a session asks for when the connection on which it began to send it was closed.
actor RepeatableBody: BodyStream {
    private let make: @Sendable () -> any BodyStream
    private let stream: any BodyStream

    init(_ make: @escaping @Sendable () -> any BodyStream) {
        self.make = make
        stream = make()
    }

    /// The body from its beginning.
    nonisolated var again: RepeatableBody { RepeatableBody(make) }

    func next() async throws -> [UInt8]? { try await stream.next() }
}
