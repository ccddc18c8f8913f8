import RoostBlobs

/// Blobs: bytes of any length beside the documents, one file each, named by their digest so that the same content is
/// stored once. In an encrypted database the files are encrypted and their names tell nothing.
///
/// Blobs that no document refers to are removed by ``Database/compact(_:progress:)-(_,ProgressHandler?)``.
extension Database {
    /// Stores bytes, durably, and returns what a document refers to them by.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - contentType: Its MIME type, for the reference.
    ///   - options: What it is named by, and how it is stored.
    /// - Throws: `readOnly`, `closed`, `noSpace`, `inputOutput`.
    public func saveBlob(
        _ bytes: [UInt8], contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) throws(DatabaseError) -> Blob {
        let writer = try makeBlobWriter(contentType: contentType, options: options)
        try writer.write(bytes)
        return try writer.finish()
    }

    /// Begins a blob that is written piece by piece.
    ///
    /// - Parameters:
    ///   - contentType: The content's MIME type, for the reference.
    ///   - options: What it is named by, and how it is stored.
    /// - Throws: `readOnly`, `closed`, `noSpace`, `inputOutput`.
    public func makeBlobWriter(
        contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) throws(DatabaseError) -> BlobWriter {
        try checkWritable()
        return try BlobWriter(core.vault, contentType: contentType, options)
    }

    /// Opens the blob with this digest, `sha1-…` or `sha256-…`; `nil` when there is none.
    ///
    /// - Throws: `damaged`, `unsupportedFormat`, `closed`, `inputOutput`.
    public func blobReader(_ digest: String) throws(DatabaseError) -> BlobReader? {
        try checkOpen()
        guard let digest = BlobDigest(digest) else { return nil }
        return try translating { () throws(BlobError) in try core.vault.blobs.open(digest) }.map(
            BlobReader.init)
    }

    /// Opens the blob that a document refers to; `nil` when it is not in the store.
    ///
    /// - Throws: `damaged`, `unsupportedFormat`, `closed`, `inputOutput`.
    public func blobReader(_ blob: Blob) throws(DatabaseError) -> BlobReader? { try blobReader(blob.digest) }

    /// All blobs, in the order of their files' names; those that are damaged are passed over. O(number of blobs).
    ///
    /// - Throws: `closed`, `inputOutput`.
    public func blobs() throws(DatabaseError) -> [Blob] {
        try checkOpen()
        var found: [Blob] = []
        try translating { () throws(BlobError) in
            try core.vault.blobs.forEach { (entry) throws(BlobError) in
                found.append(
                    Blob(digest: entry.digest.description, length: entry.length, contentType: nil))
            }
        }
        return found
    }
}

/// How a blob is stored.
public struct BlobOptions: Sendable, Hashable {
    /// What blobs can be named by.
    public enum Digest: Sendable, Hashable {
        /// SHA-1, as Couchbase Lite and CouchDB's replication do.
        case sha1
        /// SHA-256, for content of people who might want two blobs to have the same name.
        case sha256
    }

    /// What the blob is named by. Default: SHA-1.
    public var digest: Digest
    /// Whether to store the content as gzip, which saves space where it is text; reading it from the middle then means
    /// to decompress what is before. Default: ``Compression-swift.enum/never``.
    public var compression: Compression
    /// Whether to compute MD5 digests on the way, as attachments have them. Without it they are computed when a document
    /// with the attachment is saved, by reading the blob once more. Default: false.
    public var computesMD5: Bool
    /// Whether what is written is gzip already: one member of RFC 1952. It is kept as it is, ``compression`` does not count,
    /// and digest and length are those of what it decompresses to. (Where blobs are kept in Couchbase Lite's layout, that
    /// is what is stored.) Default: false.
    public var isCompressed: Bool
    /// The most bytes that the content may have, decompressed. The writer throws `limitExceeded` as soon as it has more.
    /// Default: no limit.
    public var longest: UInt64

    /// When content is stored as gzip.
    public enum Compression: Sendable, Hashable {
        /// As it is.
        case never
        /// As gzip.
        case always
        /// As gzip where the content type promises text: `text/…`, `application/json`, `application/xml`,
        /// `application/javascript` and whatever ends with `+json` or `+xml`, as `image/svg+xml`. Letters may be large or
        /// small, and parameters such as a character set don't count. CouchDB's rule is the same but for the endings.
        case byContentType
    }

    /// How a blob is to be stored: by default named by its SHA-1, and as it is.
    ///
    /// - Parameters:
    ///   - digest: What the blob is named by.
    ///   - compression: Whether to store the content as gzip.
    ///   - computesMD5: Whether to compute MD5 digests on the way.
    ///   - isCompressed: Whether what is written is gzip already.
    ///   - longest: The most bytes that the content may have, decompressed.
    public init(
        digest: Digest = .sha1, compression: Compression = .never, computesMD5: Bool = false,
        isCompressed: Bool = false, longest: UInt64 = .max
    ) {
        self.digest = digest
        self.compression = compression
        self.computesMD5 = computesMD5
        self.isCompressed = isCompressed
        self.longest = longest
    }

    /// How a blob of this type is stored.
    func stored(_ contentType: String?) -> BlobWriteOptions {
        var options = BlobWriteOptions()
        options.algorithm = digest == .sha1 ? .sha1 : .sha256
        options.computesMD5 = computesMD5
        options.isCompressed = isCompressed
        options.longest = longest
        options.compresses =
            switch compression {
            case .never: false
            case .always: true
            case .byContentType: contentType.map(Self.isText) ?? false
            }
        return options
    }

    /// Whether content of this MIME type is text, which compresses well.
    private static func isText(_ contentType: String) -> Bool {
        let essence = contentType.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
        return essence.hasPrefix("text/") || essence.hasSuffix("+json") || essence.hasSuffix("+xml")
            || ["application/json", "application/xml", "application/javascript"].contains(essence)
    }
}
