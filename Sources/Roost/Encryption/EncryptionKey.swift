import RoostBytes
import RoostCrypto
import RoostStorage

/// What opens an encrypted database: 32 random bytes, or a passphrase.
///
/// The secret is kept in memory that is wiped when the last copy goes; it never appears in a description, an error or
/// a file. A key does not encrypt a database itself: it wraps a random key that each file has of its own.
public struct EncryptionKey: Sendable, CustomStringConvertible {
    enum Kind: UInt8, Sendable {
        case raw = 0
        case passphrase = 1
    }

    let kind: Kind
    let secret: SymmetricKey

    /// The length of a raw key in bytes.
    public static let byteCount = 32

    /// A key of 32 bytes that are as random as a key must be; wiping the array is up to the caller.
    ///
    /// - Throws: `wrongKey` when there are not 32 of them.
    public init(bytes: [UInt8]) throws(DatabaseError) {
        guard bytes.count == EncryptionKey.byteCount else {
            throw DatabaseError(
                .wrongKey,
                "An encryption key has \(EncryptionKey.byteCount) bytes; this one has \(bytes.count).")
        }
        kind = .raw
        secret = SymmetricKey(bytes)
    }

    private init(_ kind: Kind, _ secret: SymmetricKey) {
        self.kind = kind
        self.secret = secret
    }

    /// A passphrase, from which a key is derived with PBKDF2-HMAC-SHA-256 in 600,000 rounds and a random salt (OWASP
    /// Password Storage Cheat Sheet, 2023). Its UTF-8 is used as it is, without normalization.
    public static func passphrase(_ text: String) -> EncryptionKey {
        var text = text
        return text.withUTF8 { unsafe EncryptionKey(.passphrase, SymmetricKey(UnsafeRawBufferPointer($0))) }
    }

    /// A passphrase in an encoding of its owner's: its bytes are used as they are. That of the bytes of a text in UTF-8 is
    /// the same as ``passphrase(_:)`` of the text. Wiping the array is up to the caller.
    public static func passphrase(bytes: [UInt8]) -> EncryptionKey {
        EncryptionKey(.passphrase, SymmetricKey(bytes))
    }

    /// A new random key from the system's generator; ``withBytes(_:)`` tells it, to be kept in a keychain.
    public static func random() -> EncryptionKey { EncryptionKey(.raw, .random()) }

    /// Calls `body` with the bytes of the key or passphrase, valid during the call.
    public func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        unsafe try secret.withUnsafeBytes(body)
    }

    /// Whether it is a passphrase, and no raw key.
    package var isPassphrase: Bool { kind == .passphrase }

    /// Whether both are the same, in a time that depends on their lengths only.
    public func isSame(as other: EncryptionKey) -> Bool { kind == other.kind && secret == other.secret }

    /// Says what kind of key it is, nothing more.
    public var description: String { kind == .raw ? "a 32-byte key" : "a passphrase" }
}

// MARK: - KeyVault

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

// MARK: - KeyWrap

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

// MARK: - Encryption

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
