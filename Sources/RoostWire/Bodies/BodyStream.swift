import CRoostZlib

/// Bytes that are made or received on demand, so that the producer never runs ahead of the consumer.
///
/// One task reads at a time. Cancelling that task ends what the stream is doing.
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

    /// - Parameter make: Called when the first bytes are requested; what it returns makes them piece by piece and `nil`
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

/// A body that was sent as gzip (RFC 1952), decompressed as it is read.
public actor GunzipBody: BodyStream {
    /// How much comes out at a time.
    private static let pieceSize = 64 << 10

    private let source: any BodyStream
    private let inflater = Inflater()
    private var hasEnded = false

    /// - Parameter source: The compressed bytes.
    public init(_ source: any BodyStream) { self.source = source }

    /// The next decompressed bytes.
    ///
    /// - Throws: ``WireError`` 400 for what is no gzip, or ends early.
    public func next() async throws -> [UInt8]? {
        while !hasEnded {
            let piece = try inflater.inflate(upTo: Self.pieceSize)
            if !piece.isEmpty { return piece }
            if inflater.isAtEnd {
                hasEnded = true
                guard try await source.next() == nil, inflater.pending.isEmpty else { throw Self.malformed }
                return nil
            }
            guard let more = try await source.next() else { throw Self.malformed }
            inflater.pending = more[...]
        }
        return nil
    }

    fileprivate static var malformed: WireError { WireError(400, "The body is no gzip, or not all of it.") }
}

/// zlib's state, wherever it was allocated.
@safe private final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>
    /// What has been received and not looked at.
    var pending: ArraySlice<UInt8> = []
    private(set) var isAtEnd = false
    /// Whether there was no room for all that came out.
    private var holdsMore = false

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // Fifteen bits of window, and 16 for gzip's header and trailer.
        let status = unsafe inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { fatalError("zlib has no memory") }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// What comes of the pending bytes; nothing when more of them are needed, or at the end.
    func inflate(upTo count: Int) throws(WireError) -> [UInt8] {
        guard !isAtEnd, !pending.isEmpty || holdsMore else { return [] }
        var input = Array(pending)
        var status = Z_OK
        var left = 0
        let output = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, produced in
            unsafe input.withUnsafeMutableBufferPointer { source in
                unsafe stream.pointee.next_in = source.baseAddress
                unsafe stream.pointee.avail_in = uInt(source.count)
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = uInt(count)
                status = unsafe CRoostZlib.inflate(stream, Z_NO_FLUSH)
                left = unsafe Int(stream.pointee.avail_in)
                produced = unsafe count - Int(stream.pointee.avail_out)
            }
        }
        pending = pending.suffix(left)
        isAtEnd = status == Z_STREAM_END
        holdsMore = output.count == count
        guard isAtEnd || status == Z_OK || status == Z_BUF_ERROR else { throw GunzipBody.malformed }
        return output
    }
}
