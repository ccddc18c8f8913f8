import RoostBlobs

/// Blobs: bytes of any length beside the documents, one file each, named by their digest so that the same content is
/// stored once. In an encrypted database the files are encrypted and their names tell nothing.
///
/// Blobs stay in the store whether or not a document refers to them.
extension Database {
    /// Stores bytes, durably, and returns what a document refers to them by.
    ///
    /// - Throws: `readOnly`, `closed`, `noSpace`, `inputOutput`.
    public func saveBlob(_ bytes: [UInt8], contentType: String? = nil) throws(DatabaseError) -> Blob {
        let writer = try makeBlobWriter(contentType: contentType)
        try writer.write(bytes)
        return try writer.finish()
    }

    /// Begins a blob that is written piece by piece.
    ///
    /// - Throws: `readOnly`, `closed`, `noSpace`, `inputOutput`.
    public func makeBlobWriter(contentType: String? = nil) throws(DatabaseError) -> BlobWriter {
        try checkWritable()
        return try BlobWriter(core.vault.blobs, contentType: contentType)
    }

    /// Opens the blob with this digest, `sha1-…` or `sha256-…`; `nil` when there is none.
    ///
    /// - Throws: `damaged`, `unsupportedFormat`, `closed`, `inputOutput`.
    public func blobReader(_ digest: String) throws(DatabaseError) -> BlobReader? {
        try checkOpen()
        guard let digest = BlobDigest(digest) else { return nil }
        return try blobCall { () throws(BlobError) in try core.vault.blobs.open(digest) }.map(BlobReader.init)
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
        try blobCall { () throws(BlobError) in
            try core.vault.blobs.forEach { (entry) throws(BlobError) in
                found.append(
                    Blob(digest: entry.digest.description, length: entry.length, contentType: nil))
            }
        }
        return found
    }

    /// Reads every blob and compares it with its digest.
    ///
    /// - Parameter progress: called after each blob with the number done and that of all; returns `false` to stop.
    /// - Returns: what was found; damage does not throw.
    /// - Throws: `closed`, `cancelled`, `inputOutput`.
    public func verifyBlobs(
        _ progress: (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
    ) throws(DatabaseError) -> BlobCheckReport {
        try checkOpen()
        let found = try blobCall { () throws(BlobError) in try core.vault.blobs.verify(progress) }
        return BlobCheckReport(
            count: found.count, bytes: found.bytes,
            damaged: found.damaged.map { BlobCheckReport.Damage(file: $0.name, reason: $0.reason) })
    }
}

/// What a verification of all blobs found.
public struct BlobCheckReport: Hashable, Sendable {
    /// A file that is not what was written.
    public struct Damage: Hashable, Sendable {
        /// The file's name in the database's directory `blobs`.
        public let file: String
        /// What is wrong, as a sentence.
        public let reason: String
    }

    /// How many blobs were read.
    public let count: Int
    /// The content in those that are whole, in bytes.
    public let bytes: UInt64
    /// The files that are damaged.
    public let damaged: [Damage]

    /// Whether nothing is damaged.
    public var isClean: Bool { damaged.isEmpty }
}
