/// Bytes that are made or received as they are asked for, so that who makes them never runs ahead of who takes them.
///
/// One task asks at a time. Cancelling that task ends what the stream is doing.
public protocol BodyStream: Sendable {
    /// The next bytes, not none of them; `nil` at the end, and ever after.
    ///
    /// - Throws: What keeps the body from going on. It is incomplete then and must not be taken for whole.
    func next() async throws -> [UInt8]?
}

extension BodyStream {
    /// All that is left, in memory.
    ///
    /// - Parameter limit: How much that may be, in bytes.
    /// - Throws: ``WireError`` 413 when there is more; what the stream throws.
    public func collect(limit: Int = .max) async throws -> [UInt8] {
        var all: [UInt8] = []
        while let piece = try await next() {
            guard piece.count <= limit - all.count else {
                throw WireError(413, "The request entity is too large: more than \(limit) bytes.")
            }
            if all.isEmpty { all = piece } else { all += piece }
        }
        return all
    }

    /// Takes what is left and forgets it, up to `limit` bytes; answers whether that was all.
    public func drain(limit: Int) async -> Bool {
        var left = limit
        while let piece = try? await next() {
            left -= piece.count
            if left < 0 { return false }
        }
        return true
    }
}

/// A body that is in memory.
public actor BytesBody: BodyStream {
    /// How many bytes the body has.
    package nonisolated let count: Int
    private var bytes: [UInt8]?

    /// These bytes.
    public init(_ bytes: [UInt8]) {
        count = bytes.count
        self.bytes = bytes.isEmpty ? nil : bytes
    }

    /// All of them, once.
    public func next() -> [UInt8]? { bytes.take() }
}

/// A body that a function makes piece by piece, with state that only the stream sees.
public actor GeneratedBody: BodyStream {
    private let make: @Sendable () throws -> (() throws -> [UInt8]?)
    private var generate: (() throws -> [UInt8]?)?

    /// - Parameter make: Called when the first bytes are asked for; what it answers makes them piece by piece and `nil`
    ///   at the end.
    public init(_ make: @escaping @Sendable () throws -> (() throws -> [UInt8]?)) { self.make = make }

    /// The next piece.
    public func next() throws -> [UInt8]? {
        try Task.checkCancellation()
        let generate = try self.generate ?? make()
        self.generate = generate
        return try generate()
    }
}
