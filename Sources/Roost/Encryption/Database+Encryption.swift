import RoostStorage

extension Database {
    /// Encrypts the database, decrypts it, or gives it another key, by a compaction: while others read and write, and
    /// so that a crash leaves it as it was or as it is to be. A new file has a new key of its own, so that whoever had
    /// the old key and a copy learns nothing of what is written from now on.
    ///
    /// The old file's blocks are given back to the file system, which may keep their content for a while; where that
    /// matters, encrypt before there are secrets in the database.
    ///
    /// - Parameters:
    ///   - key: the key from now on; `nil` to decrypt.
    ///   - progress: called on this thread; returns `false` to stop, which leaves everything as it was.
    /// - Throws: `noSpace`, `inputOutput`, `readOnly`, `cancelled`.
    @discardableResult
    public func changeKey(
        to key: EncryptionKey?, progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> CompactionResult {
        var options = CompactionOptions()
        options.encryption = key.map { .replaced(KeyRing($0)) } ?? .none
        let result = try compact(options, progress: progress)
        core.setKey(key)
        return result
    }
}
