import RoostCrypto

/// The secrets of one encrypted file, which its header keeps wrapped.
struct FileKeys: Sendable {
    /// What the file is encrypted with. No other file has it.
    let file: SymmetricKey
    /// What keys among the file's content are sealed with. It stays when a compaction makes another file of the content.
    let vault: SymmetricKey

    /// The bytes of both together.
    static let byteCount = 2 * EncryptionKey.byteCount

    /// Those of a new file, which takes over content that was sealed with `vault`, if any was.
    init(vault: SymmetricKey?) {
        file = .random()
        self.vault = vault ?? .random()
    }

    /// Those that ``bytes`` holds.
    /// - Precondition: there are ``byteCount`` of them.
    init(_ bytes: SymmetricKey) {
        let keys = bytes.parts(of: EncryptionKey.byteCount)
        (file, vault) = (keys[0], keys[1])
    }

    /// The file's key, then the vault's.
    var bytes: SymmetricKey { SymmetricKey(joining: [file, vault]) }
}
