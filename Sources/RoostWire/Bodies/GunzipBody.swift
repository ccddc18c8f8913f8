import CRoostZlib

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
