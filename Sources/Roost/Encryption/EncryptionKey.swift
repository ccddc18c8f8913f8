import RoostBytes
import RoostCrypto

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
