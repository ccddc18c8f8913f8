import RoostBytes
import RoostCrypto

/// The part of a file's header that leads from the user's key to the file's own.
///
/// ```
/// version 1 (1) | kind of key (1: 0 raw, 1 passphrase) | rounds (4) | salt (16) | nonce (12) | wrapped keys (64 + 16)
/// ```
/// The key that wraps is HKDF-SHA-256 of the user's key and the salt, or of what PBKDF2-HMAC-SHA-256 makes of the
/// passphrase, the salt and the rounds. The file's keys are wrapped with AES-256-GCM; the first 22 bytes and the file's
/// identifier are authenticated along with them, so a wrap can't be put into another file or made cheaper to guess.
struct KeyWrap {
    static let version: UInt8 = 1
    static let saltLength = 16
    private static let boundLength = 22
    private static let nonceLength = AES256GCM.nonceByteCount
    static let length = boundLength + nonceLength + FileKeys.byteCount + AES256GCM.tagByteCount
    /// What derives a key from a new passphrase.
    static let defaultRounds: UInt32 = 600_000
    /// A header that asks for more was made to keep its reader busy.
    static let maximumRounds: UInt32 = 10_000_000

    let bytes: [UInt8]

    /// Wraps `keys`, which a new file is encrypted with.
    init(
        _ keys: FileKeys, fileID: [UInt8], wrapping key: SymmetricKey, _ kind: EncryptionKey.Kind,
        rounds: UInt32, salt: [UInt8]
    ) {
        let head = ByteBuffer(capacity: KeyWrap.boundLength)
        head.append(KeyWrap.version)
        head.append(kind.rawValue)
        head.append(integer: rounds)
        head.append(salt)
        let nonce = SystemRandom.bytes(count: KeyWrap.nonceLength)
        let bound = head.view.array
        bytes =
            bound + nonce
            + AES256GCM(derived: key).seal(keys.bytes, nonce: nonce, authenticating: bound + fileID)
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

    /// The file's keys; `nil` when `key` does not open them.
    func unwrap(with key: SymmetricKey, fileID: [UInt8]) -> FileKeys? {
        let sealed = KeyWrap.boundLength + KeyWrap.nonceLength
        return AES256GCM(derived: key).open(
            Array(bytes[sealed...]), nonce: Array(bytes[KeyWrap.boundLength..<sealed]),
            authenticating: Array(bytes[..<KeyWrap.boundLength]) + fileID
        ).map { FileKeys($0) }
    }
}
