import RoostBytes
import RoostCrypto

/// The part of a file's header that leads from the user's key to the file's own.
///
/// ```
/// version 1 (1) | kind of key (1: 0 raw, 1 passphrase) | rounds (4) | salt (16) | nonce (12) | wrapped key (32 + 16)
/// ```
/// The key that wraps is HKDF-SHA-256 of the user's key and the salt, or of what PBKDF2-HMAC-SHA-256 makes of the
/// passphrase, the salt and the rounds. The file's key is wrapped with AES-256-GCM; the first 22 bytes and the file's
/// identifier are authenticated along with it, so a wrap can't be put into another file or made cheaper to guess.
struct KeyWrap {
    static let version: UInt8 = 1
    static let saltLength = 16
    private static let boundLength = 22
    private static let nonceLength = 12
    static let length = boundLength + nonceLength + EncryptionKey.byteCount + AES256GCM.tagByteCount
    /// What derives a key from a new passphrase.
    static let defaultRounds: UInt32 = 600_000
    /// A header that asks for more was made to keep its reader busy.
    static let maximumRounds: UInt32 = 10_000_000

    let bytes: [UInt8]

    /// Wraps `fileKey`, which a new file is encrypted with.
    init(
        _ fileKey: SymmetricKey, fileID: [UInt8], wrapping key: SymmetricKey, _ kind: EncryptionKey.Kind,
        rounds: UInt32, salt: [UInt8]
    ) {
        let bound = ByteBuffer(capacity: KeyWrap.length)
        bound.append(KeyWrap.version)
        bound.append(kind.rawValue)
        bound.append(integer: rounds)
        bound.append(salt)
        let nonce = SystemRandom.bytes(count: KeyWrap.nonceLength)
        var sealed = [UInt8](repeating: 0, count: EncryptionKey.byteCount + AES256GCM.tagByteCount)
        let associated = bound.view.array + fileID
        let cipher = KeyWrap.cipher(key)
        unsafe fileKey.withUnsafeBytes { text in
            unsafe sealed.withUnsafeMutableBytes { output in
                unsafe nonce.withUnsafeBytes { nonce in
                    unsafe associated.withUnsafeBytes {
                        unsafe cipher.seal(text, into: output, nonce: nonce, authenticating: $0)
                    }
                }
            }
        }
        bytes = bound.view.array + nonce + sealed
    }

    /// A wrap as a header holds it; `nil` when it is none that can be understood.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == KeyWrap.length, bytes[0] == KeyWrap.version else { return nil }
        self.bytes = bytes
        guard EncryptionKey.Kind(rawValue: bytes[1]) != nil, rounds <= KeyWrap.maximumRounds else {
            return nil
        }
    }

    var kind: EncryptionKey.Kind? { EncryptionKey.Kind(rawValue: bytes[1]) }
    var rounds: UInt32 { bytes.withView { $0.load(UInt32.self, at: 2) } }
    var salt: [UInt8] { Array(bytes[6..<KeyWrap.boundLength]) }

    /// The file's key; `nil` when `key` does not open it.
    func unwrap(with key: SymmetricKey, fileID: [UInt8]) -> SymmetricKey? {
        let associated = Array(bytes[..<KeyWrap.boundLength]) + fileID
        let nonce = Array(bytes[KeyWrap.boundLength..<KeyWrap.boundLength + KeyWrap.nonceLength])
        let sealed = Array(bytes[(KeyWrap.boundLength + KeyWrap.nonceLength)...])
        let cipher = KeyWrap.cipher(key)
        var isRight = false
        let fileKey = unsafe SymmetricKey(byteCount: EncryptionKey.byteCount) { output in
            unsafe sealed.withUnsafeBytes { sealed in
                unsafe nonce.withUnsafeBytes { nonce in
                    unsafe associated.withUnsafeBytes { associated in
                        do {
                            unsafe try cipher.open(
                                sealed, into: output, nonce: nonce, authenticating: associated)
                            isRight = true
                        } catch {
                            isRight = false
                        }
                    }
                }
            }
        }
        return isRight ? fileKey : nil
    }

    private static func cipher(_ key: SymmetricKey) -> AES256GCM {
        guard let cipher = try? AES256GCM(key: key) else { preconditionFailure("a derived key has 32 bytes") }
        return cipher
    }
}
