import RoostCrypto

/// The encrypted blob files of Couchbase Lite, as its shipped code writes them:
///
///     blocks of 4096 bytes of content, AES-256-CBC, without padding but for the last one, which has PKCS #7 padding and
///     is always there: after a multiple of 4096 bytes it is 16 bytes of padding alone
///     32 bytes of nonce, at the end
///
/// A block's initialization vector is eight zero bytes and the block's number, big-endian. The key is the database's own.
/// LiteCore's overview describes another one, the database's key combined with the nonce by exclusive or; files of that
/// kind are read and written when asked for. Nothing is authenticated: whoever can write the file can change the
/// content unnoticed.
enum CompatibleBlocks {
    static let length = 4096
    static let nonceLength = 32

    /// The size of the file that holds `content` bytes.
    static func fileSize(_ content: UInt64) -> UInt64 { 16 * (content / 16 + 1) + UInt64(nonceLength) }

    static func initializationVector(_ block: UInt64) -> Block128 { Block128(bigEndian: 0, block) }
}

/// The key of Couchbase Lite's encrypted files.
package struct CompatibleKey: Sendable {
    private let key: SymmetricKey
    private let mixesNonce: Bool

    /// - Parameters:
    ///   - key: The database's key, 32 bytes. Couchbase Lite derives one from a password by PBKDF2-HMAC-SHA-256 with
    ///     64,000 rounds and the salt "Salty McNaCl".
    ///   - mixesNonce: Whether a file's key is the database's combined with the file's nonce, as LiteCore's overview says
    ///     and its code does not do.
    package init(_ key: SymmetricKey, mixesNonce: Bool = false) {
        precondition(key.byteCount == AES256.keyByteCount)
        self.key = key
        self.mixesNonce = mixesNonce
    }

    /// The cipher for a file with this nonce.
    func cipher(nonce: [UInt8]) -> AES256 {
        let fileKey =
            unsafe !mixesNonce
            ? key
            : SymmetricKey(byteCount: AES256.keyByteCount) { output in
                unsafe output.copyBytes(from: nonce)
                unsafe key.withUnsafeBytes { key in
                    for index in 0..<output.count { unsafe output[index] ^= key[index] }
                }
            }
        guard let cipher = try? AES256(key: fileKey) else { preconditionFailure("the key has 32 bytes") }
        return cipher
    }
}
