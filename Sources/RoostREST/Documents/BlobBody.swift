import Roost
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

extension Database {
    /// Stores what comes, piece by piece.
    ///
    /// - Parameter compression: Whether it is kept as gzip.
    /// - Throws: 413 when it is longer than `limit`.
    func store(
        _ body: any BodyStream, contentType: String?, compression: BlobOptions.Compression, limit: UInt64
    ) async throws -> Blob {
        let sink = BlobSink()
        try await sink.begin(self, contentType, BlobOptions(compression: compression))
        var length: UInt64 = 0
        while let bytes = try await body.next() {
            length += UInt64(bytes.count)
            guard length <= limit else {
                throw HTTPFailure(
                    413, "attachment_too_large", "The attachment is longer than \(limit) bytes.")
            }
            try await sink.write(bytes)
        }
        return try await sink.finish()
    }
}

/// A blob's writer, which belongs to one task at a time. One that is not finished leaves nothing.
private actor BlobSink {
    private var writer: BlobWriter?

    func begin(_ database: Database, _ contentType: String?, _ options: BlobOptions) throws {
        writer = try database.makeBlobWriter(contentType: contentType, options: options)
    }

    func write(_ bytes: [UInt8]) throws { try writer?.write(bytes) }

    func finish() throws -> Blob {
        guard let writer = writer.take() else {
            throw HTTPFailure(500, "unknown_error", "The blob is finished.")
        }
        return try writer.finish()
    }
}
