import Roost
import RoostBytes
import RoostCrypto
import RoostWire

/// The content of a blob, or a part of it, as a body.
actor BlobBody: BodyStream {
    private static let pieceSize = 64 << 10

    private let database: Database
    private let digest: String
    private var left: Range<UInt64>
    private var reader: BlobReader?

    init(_ database: Database, _ digest: String, _ range: Range<UInt64>) {
        self.database = database
        self.digest = digest
        left = range
    }

    func next() throws -> [UInt8]? {
        guard !left.isEmpty else { return nil }
        guard let reader = try reader ?? database.blobReader(digest) else { throw HTTPFailure.noAttachment }
        self.reader = reader
        reader.position = left.lowerBound
        let count = Int(min(UInt64(Self.pieceSize), UInt64(left.count)))
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe try bytes.withUnsafeMutableBytes { unsafe try reader.read(into: $0) }
        guard found == count else {
            throw HTTPFailure(500, "unknown_error", "An attachment is shorter than it was.")
        }
        left = left.lowerBound + UInt64(count)..<left.upperBound
        return bytes
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
    /// Stores what comes, piece by piece.
    ///
    /// - Parameters:
    ///   - isCompressed: Whether it is gzip, which is kept as it comes.
    ///   - limit: How long the content may be, decompressed.
    /// - Throws: 413 when it is longer than `limit`, 400 when it is to be gzip and is none.
    func store(
        _ body: any BodyStream, contentType: String?, isCompressed: Bool, limit: UInt64
    ) async throws -> StoredBody {
        let sink = BlobSink()
        try await sink.begin(self, contentType, isCompressed: isCompressed)
        while let bytes = try await body.next() {
            guard try await sink.write(bytes) <= limit else {
                throw HTTPFailure(
                    413, "attachment_too_large", "The attachment is longer than \(limit) bytes.")
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

    func begin(_ database: Database, _ contentType: String?, isCompressed: Bool) throws {
        hasher = isCompressed ? MD5() : nil
        writer = try database.makeBlobWriter(
            contentType: contentType, options: BlobOptions(computesMD5: true, isCompressed: isCompressed))
    }

    /// Adds bytes; answers how long the content is by now.
    func write(_ bytes: [UInt8]) throws -> UInt64 {
        let writer = try current
        received += UInt64(bytes.count)
        unsafe bytes.withUnsafeBytes { unsafe hasher?.update($0) }
        try writer.write(bytes)
        return writer.length
    }

    func finish() throws -> StoredBody {
        let writer = try current
        self.writer = nil
        let md5 = hasher.take()?.finalize()
        return StoredBody(
            blob: try writer.finish(), received: received,
            receivedMD5: md5.map { "md5-" + Base64.encode($0.bytes) })
    }

    private var current: BlobWriter {
        get throws {
            guard let writer else { throw HTTPFailure(500, "unknown_error", "The blob is finished.") }
            return writer
        }
    }
}
