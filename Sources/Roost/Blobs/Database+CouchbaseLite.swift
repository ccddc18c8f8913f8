import RoostBlobs
import RoostCrypto

extension Database {
    /// Stores the blobs of a Couchbase Lite database, encrypted ones among them, so that documents moved from there find what
    /// they refer to.
    ///
    /// Couchbase Lite does not authenticate its encrypted files. Each content is compared with the digest that names it before it
    /// counts, which finds accidents and another key, not intent.
    ///
    /// - Parameters:
    ///   - directory: The directory `Attachments` in `NAME.cblite2`. It stays as it is.
    ///   - key: The key of that database, where it is encrypted: its 32 bytes, or its password as a passphrase.
    /// - Returns: The blobs, without content types, which only documents know.
    /// - Throws: `damaged` when a file is not what its name says, or the key is another one; `readOnly`, `closed`, `noSpace`,
    ///   `inputOutput`.
    @discardableResult
    public func importBlobs(
        fromCouchbaseLite directory: String, key: EncryptionKey? = nil
    ) throws(DatabaseError) -> [Blob] {
        try checkWritable()
        let layout = key.map { BlobLayout.couchbaseLite(CompatibleKey($0.couchbaseLiteKey)) } ?? .plain
        let source = BlobStore(directory, layout, environment: core.environment)
        var blobs: [Blob] = []
        let count = try translating { () throws(BlobError) in
            try source.forEach { (entry) throws(BlobError) in
                blobs.append(try copy(entry.digest, from: source))
            }
            return try source.files().count
        }
        guard blobs.count == count else {
            throw DatabaseError(
                .damaged,
                "\(count - blobs.count) of the \(count) blobs in \(directory) can't be read. Check the key, and the files."
            )
        }
        return blobs
    }

    /// Copies one blob.
    private func copy(_ digest: BlobDigest, from source: BlobStore) throws(BlobError) -> Blob {
        var options = BlobWriteOptions()
        options.algorithm = digest.algorithm
        let writer = try BlobFileWriter(core.vault.blobs, options)
        unsafe try source.open(digest)?.forEachPiece { (piece) throws(BlobError) in
            unsafe try writer.write(piece)
        }
        let installed = try writer.install(expecting: digest)
        core.vault.keepAWhile(installed.pin)
        return Blob(digest: digest.description, length: installed.length, contentType: nil)
    }
}

extension EncryptionKey {
    /// The key that Couchbase Lite makes of it.
    fileprivate var couchbaseLiteKey: SymmetricKey {
        guard kind == .passphrase else { return secret }
        return PBKDF2.deriveKeyWithSHA256(
            password: secret, salt: Array("Salty McNaCl".utf8), rounds: 64_000)
    }
}
