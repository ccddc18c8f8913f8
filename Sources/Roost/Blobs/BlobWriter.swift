import RoostBlobs

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
