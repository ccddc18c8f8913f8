import Foundation
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

// MARK: - Saving Blobs

extension Database {
    /// Stores bytes, durably, and returns what a document refers to them by, as the form for an array does.
    public func saveBlob(
        _ data: Data, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) throws(DatabaseError) -> Blob {
        let writer = try makeBlobWriter(contentType: contentType, options: options)
        try writer.write(data)
        return try writer.finish()
    }

    /// Stores the content of a file, durably and in constant memory, and returns what a document refers to it by.
    ///
    /// - Parameters:
    ///   - file: The file, which stays as it is.
    ///   - contentType: Its MIME type, for the reference.
    ///   - options: What it is named by, and how it is stored.
    /// - Throws: `notFound` when there is no such file; `inputOutput` when it can't be read; `readOnly`, `closed`, `noSpace`.
    public func saveBlob(
        contentsOf file: URL, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) throws(DatabaseError) -> Blob {
        let writer = try makeBlobWriter(contentType: contentType, options: options)
        let handle = try reading(file) { try FileHandle(forReadingFrom: file) }
        defer { try? handle.close() }
        while let piece = try reading(file, { try handle.read(upToCount: 256 << 10) }), !piece.isEmpty {
            try writer.write(piece)
        }
        return try writer.finish()
    }

    private func reading<R>(_ file: URL, _ body: () throws -> R) throws(DatabaseError) -> R {
        do {
            return try body()
        } catch {
            let isMissing = (error as? CocoaError)?.code == .fileReadNoSuchFile
            throw DatabaseError(
                isMissing ? .notFound : .inputOutput,
                isMissing ? "There is no file \(file.path)." : "The file \(file.path) can't be read.",
                underlyingError: error)
        }
    }

    // MARK: For tasks

    /// As the form that blocks, without blocking a thread of the task's executor.
    public func saveBlob(
        _ bytes: [UInt8], contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) async throws(DatabaseError) -> Blob {
        try await work { (database, _) throws(DatabaseError) in
            try database.saveBlob(bytes, contentType: contentType, options: options)
        }
    }

    /// As the form that blocks, without blocking a thread of the task's executor.
    public func saveBlob(
        _ data: Data, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) async throws(DatabaseError) -> Blob {
        try await work { (database, _) throws(DatabaseError) in
            try database.saveBlob(data, contentType: contentType, options: options)
        }
    }

    /// As the form that blocks, without blocking a thread of the task's executor.
    public func saveBlob(
        contentsOf file: URL, contentType: String? = nil, options: BlobOptions = BlobOptions()
    ) async throws(DatabaseError) -> Blob {
        try await work { (database, _) throws(DatabaseError) in
            try database.saveBlob(contentsOf: file, contentType: contentType, options: options)
        }
    }
}

extension BlobWriter {
    /// Adds bytes to the content. After an error the blob can't be finished.
    ///
    /// - Throws: `closed`, `noSpace`, `inputOutput`.
    public func write(_ data: Data) throws(DatabaseError) {
        // A Data may be in several parts, each contiguous.
        for region in data.regions {
            let result: Result<Void, DatabaseError> = unsafe region.withUnsafeBytes { bytes in
                Result { () throws(DatabaseError) in unsafe try write(bytes) }
            }
            try result.get()
        }
    }
}

// MARK: - BlobReader

/// Reads a blob, from the beginning on or anywhere, in constant memory. Belongs to one task at a time.
public final class BlobReader {
    private let reader: BlobFileReader

    init(_ reader: BlobFileReader) { self.reader = reader }

    /// The digest of the content: `sha1-` and base64.
    public var digest: String { reader.digest.description }

    /// The length of the content in bytes.
    public var length: UInt64 { reader.length }

    /// How many bytes are stored where the content is stored as gzip; else `nil`.
    package var gzipLength: UInt64? { reader.encoding == .gzip ? reader.storedLength : nil }

    /// Reads what is stored at `offset`, gzip where it is; returns how many bytes were read, fewer than asked at the end only.
    package func readStored(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(DatabaseError) -> Int {
        try translating { () throws(BlobError) in unsafe try reader.readStored(into: buffer, at: offset) }
    }

    /// The offset of the byte that is read next; setting it seeks.
    public var position: UInt64 {
        get { reader.position }
        set { reader.position = newValue }
    }

    /// Reads at ``position`` and moves on; returns how many bytes were read, fewer than asked at the end only.
    ///
    /// - Throws: `damaged` when the bytes are not those that were written (in an encrypted database always found, in
    ///   another one by ``verify()``); `inputOutput`.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(DatabaseError) -> Int {
        try translating { () throws(BlobError) in unsafe try reader.read(into: buffer) }
    }

    /// The whole content, verified.
    ///
    /// - Throws: `damaged`, `inputOutput`.
    public func readAll() throws(DatabaseError) -> [UInt8] {
        try translating { () throws(BlobError) in try reader.readAll() }
    }

    /// Calls `body` with the content from ``position`` to the end, piece by piece.
    ///
    /// - Throws: `damaged`, `inputOutput`, what `body` throws.
    public func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = unsafe try buffer.withUnsafeMutableBytes { unsafe try read(into: $0) }
            if count == 0 { return }
            unsafe try buffer.withUnsafeBytes {
                unsafe try body(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
        }
    }

    /// Reads everything and compares it with the digest.
    ///
    /// - Throws: `damaged`, `inputOutput`.
    public func verify() throws(DatabaseError) {
        try translating { () throws(BlobError) in try reader.verify() }
    }
}

// MARK: - BlobWriter

/// Writes a blob piece by piece, in constant memory. Ends with ``finish()``; without that nothing is left of it.
///
/// Belongs to one task at a time.
public final class BlobWriter {
    private let vault: BlobVault
    private let writer: BlobFileWriter
    private let contentType: String?

    init(_ vault: BlobVault, contentType: String?, _ options: BlobOptions) throws(DatabaseError) {
        self.vault = vault
        self.contentType = contentType
        writer = try translating { () throws(BlobError) in
            try BlobFileWriter(vault.blobs, options.stored(contentType))
        }
    }

    /// The length of the content so far, in bytes: of what it decompresses to, where gzip is written.
    public var length: UInt64 { writer.length }

    /// Adds bytes to the content. After an error the blob can't be finished.
    ///
    /// - Throws: `closed`, `noSpace`, `inputOutput`.
    public func write(_ bytes: [UInt8]) throws(DatabaseError) {
        try translating { () throws(BlobError) in try writer.write(bytes) }
    }

    /// Adds bytes to the content. After an error the blob can't be finished.
    ///
    /// - Throws: `closed`, `noSpace`, `inputOutput`.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(DatabaseError) {
        try translating { () throws(BlobError) in unsafe try writer.write(bytes) }
    }

    /// Puts the blob into the store, durably, and returns what a document refers to it by.
    ///
    /// - Throws: `closed` when it was finished before, or the database was encrypted or decrypted meanwhile; `noSpace`,
    ///   `inputOutput`.
    public func finish() throws(DatabaseError) -> Blob {
        let installed = try translating { () throws(BlobError) in try writer.install() }
        vault.keepAWhile(installed.pin)
        return blob(installed)
    }

    /// As ``finish()``, for a document that may be refused: with the last copy of the result the content goes, unless a document
    /// names it then.
    package func finishForDocument() throws(DatabaseError) -> Blob {
        let installed = try translating { () throws(BlobError) in try writer.install(isHeld: true) }
        var blob = blob(installed)
        blob.hold = installed.hold
        return blob
    }

    private func blob(_ installed: InstalledBlob) -> Blob {
        Blob(
            digest: installed.digest.description, length: installed.length, contentType: contentType,
            checksums: BlobChecksums(installed))
    }

    /// Gives up what was written. Does nothing once the blob is finished.
    public func cancel() { writer.close() }
}
