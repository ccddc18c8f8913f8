import Roost
import RoostBytes
import RoostCrypto
import RoostWire

/// The content of a blob, or a part of it, as a body.
actor BlobBody: BodyStream {
    private static let pieceSize = 64 << 10

    private let database: Database
    private let digest: String
    /// Whether the gzip is read that the content is stored as.
    private let asGzip: Bool
    private var left: Range<UInt64>
    private var reader: BlobReader?

    /// The content of an attachment, or a part of it.
    init(_ database: Database, _ attachment: Attachment, _ range: Range<UInt64>? = nil) {
        self.database = database
        digest = attachment.digest
        asGzip = false
        left = range ?? 0..<attachment.length
    }

    /// The gzip that an attachment is stored as.
    init(_ database: Database, _ gzip: StoredGzip) {
        self.database = database
        digest = gzip.digest
        asGzip = true
        left = 0..<gzip.length
    }

    func next() throws -> [UInt8]? {
        guard !left.isEmpty else { return nil }
        guard let reader = try reader ?? database.blobReader(digest) else { throw HTTPFailure.noAttachment }
        self.reader = reader
        let count = Int(min(UInt64(Self.pieceSize), UInt64(left.count)))
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe try bytes.withUnsafeMutableBytes { buffer in
            if asGzip { return unsafe try reader.readStored(into: buffer, at: left.lowerBound) }
            reader.position = left.lowerBound
            return unsafe try reader.read(into: buffer)
        }
        guard found == count else {
            throw HTTPFailure(500, "unknown_error", "An attachment is shorter than it was.")
        }
        left = left.lowerBound + UInt64(count)..<left.upperBound
        return bytes
    }
}

/// The gzip that the content of an attachment is stored as.
struct StoredGzip: Sendable {
    /// That of the content.
    let digest: String
    let length: UInt64
    /// `md5-` and base64.
    let md5: String

    /// - Returns: `nil` for content that is stored as it is, or as another gzip than the document knows.
    init?(_ attachment: Attachment, in database: Database) throws {
        guard let length = attachment.encodedLength, let md5 = attachment.encodedMD5,
            try database.blobReader(attachment.digest)?.gzipLength == length
        else { return nil }
        (digest, self.length, self.md5) = (attachment.digest, length, md5)
    }
}

/// What came of a body that was stored.
struct StoredBody: Sendable {
    let blob: Blob
    /// How many bytes came.
    let received: UInt64
    /// The MD5 of what came, where that is gzip: the store may have the same content in another form. `md5-` and base64.
    let receivedMD5: String?
}

extension Database {
    /// How much room is reserved at a time.
    private static var uploadStep: Int { 256 << 10 }

    /// Stores what comes, piece by piece.
    ///
    /// - Parameters:
    ///   - isCompressed: Whether it is gzip, which is kept as it comes.
    ///   - limit: How long the content may be, decompressed.
    ///   - memory: That of the request, which holds room for what is stored until a document names it.
    /// - Throws: 413 when it is longer than `limit`, 400 when it is to be gzip and is none.
    func store(
        _ body: any BodyStream, contentType: String?, isCompressed: Bool, limit: UInt64,
        _ memory: RequestMemory
    ) async throws -> StoredBody {
        let sink = BlobSink()
        var options = BlobOptions(computesMD5: true, isCompressed: isCompressed)
        options.longest = limit
        try await sink.begin(self, contentType, options)
        var room = 0
        while let bytes = try await body.next() {
            if bytes.count > room {
                let more = max(bytes.count, Self.uploadStep)
                try await memory.reserveUpload(more)
                room += more
            }
            room -= bytes.count
            do {
                try await sink.write(bytes)
            } catch let error as DatabaseError where error.code == .limitExceeded {
                throw HTTPFailure.attachmentTooLarge(limit)
            }
        }
        return try await sink.finish()
    }
}

/// A blob's writer, which belongs to one task at a time. One that is not finished leaves nothing.
private actor BlobSink {
    private var writer: BlobWriter?
    private var received: UInt64 = 0
    /// Of what comes, where it is gzip.
    private var hasher: MD5?

    func begin(_ database: Database, _ contentType: String?, _ options: BlobOptions) throws {
        hasher = options.isCompressed ? MD5() : nil
        writer = try database.makeBlobWriter(contentType: contentType, options: options)
    }

    func write(_ bytes: [UInt8]) throws {
        let writer = try current
        received += UInt64(bytes.count)
        unsafe bytes.withUnsafeBytes { unsafe hasher?.update($0) }
        try writer.write(bytes)
    }

    func finish() throws -> StoredBody {
        let writer = try current
        self.writer = nil
        let md5 = hasher.take()?.finalize()
        return StoredBody(
            blob: try writer.finishForDocument(), received: received,
            receivedMD5: md5.map { "md5-" + Base64.encode($0.bytes) })
    }

    private var current: BlobWriter {
        get throws {
            guard let writer else { throw HTTPFailure(500, "unknown_error", "The blob is finished.") }
            return writer
        }
    }
}
