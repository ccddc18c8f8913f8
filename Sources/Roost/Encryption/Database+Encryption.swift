import RoostStorage

extension Database {
    /// Whether the database is encrypted.
    public var isEncrypted: Bool { core.isEncrypted }

    /// Encrypts the database, decrypts it, or gives it another key, by a compaction: while others read and write, and
    /// so that a crash leaves it as it was or as it is to be. A new file has a new key of its own, so that whoever had
    /// the old key and a copy learns nothing of what is written from now on.
    ///
    /// Blobs are encrypted or decrypted afterwards, one by one; a crash in between is made good at the next opening.
    /// Another key rewrites none: those that are written from now on get a new key of their own.
    ///
    /// The old file's blocks are given back to the file system, which may keep their content for a while; where that
    /// matters, encrypt before there are secrets in the database.
    ///
    /// - Parameters:
    ///   - key: the key from now on; `nil` to decrypt.
    ///   - progress: called on this thread; returns `false` to stop, which leaves everything as it was.
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`, `cancelled`; where processes take turns to write, `locked` while another one
    ///   has the database open.
    @discardableResult
    public func changeKey(
        to key: EncryptionKey?, progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> CompactionResult {
        try checkWritable()
        guard let process = core.process else { return try setKey(key, progress) }
        return try process.alone { () throws(DatabaseError) in try setKey(key, progress) }
    }

    private func setKey(
        _ key: EncryptionKey?, _ progress: ProgressHandler?
    ) throws(DatabaseError) -> CompactionResult {
        var options = CompactionOptions()
        let transform = key.map { KeyRing($0) }
        options.encryption = transform.map { .replaced($0) } ?? .none
        let result = try core.auxiliaryStores.changingKey(to: transform) { () throws(DatabaseError) in
            try core.vault.changingKey(isEncrypted: key != nil) { () throws(DatabaseError) in
                let result = try compactDocuments(options, progress: progress)
                core.setKey(key)
                return result
            }
        }
        core.notifier.tell(.keyChanged)
        return result
    }
}
