import RoostBytes
import RoostCrypto

/// Seals keys that an encrypted file keeps among its content, with AES-256-GCM (NIST SP 800-38D).
///
/// ```
/// nonce (12) | the keys, encrypted (32 each) | tag (16)
/// ```
/// The file is encrypted as a whole already. But what is read of it lies about in caches and buffers for as long as these
/// live; these keys are never there in the clear, only in memory that is wiped.
struct KeyVault: Sendable {
    let key: SymmetricKey
    private let cipher: AES256GCM

    init(_ key: SymmetricKey) {
        self.key = key
        cipher = AES256GCM(derived: key)
    }

    /// `keys` in their sealed form, with `context` authenticated along with them.
    func seal(_ keys: [SymmetricKey], context: [UInt8]) -> [UInt8] {
        let nonce = SystemRandom.bytes(count: AES256GCM.nonceByteCount)
        return nonce + cipher.seal(SymmetricKey(joining: keys), nonce: nonce, authenticating: context)
    }

    /// The keys in `bytes`, one after another; `nil` when that is not what ``seal(_:context:)`` made of keys with this context.
    func open(_ bytes: [UInt8], context: [UInt8]) -> SymmetricKey? {
        guard bytes.count >= AES256GCM.nonceByteCount else { return nil }
        return cipher.open(
            Array(bytes[AES256GCM.nonceByteCount...]), nonce: Array(bytes[..<AES256GCM.nonceByteCount]),
            authenticating: context)
    }
}
