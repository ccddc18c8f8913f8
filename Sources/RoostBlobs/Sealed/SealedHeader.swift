import RoostBytes
import RoostCrypto

/// The beginning of an encrypted blob's file, 120 bytes:
///
///     0    8   magic "RoostBlb"
///     8    2   version, 1
///     10   2   the number of the key that the file's own keys are derived from
///     12   4   zero
///     16   32  salt, random
///     48   72  the facts of ``SealedFacts`` (56), sealed, and the tag (16)
///
/// Integers are little-endian. From the store's key and the salt HKDF-SHA-256 makes two keys that no other file has:
/// one for the facts, with the info "Roost blob header", one for the frames, with "Roost blob frames". The facts are
/// sealed by AES-256-GCM with a nonce of zeros, which is used once; bytes 0 to 47 are authenticated along with them.
struct SealedHeader {
    static let magic: [UInt8] = Array("RoostBlb".utf8)
    static let version: UInt16 = 1
    static let openLength = 48
    static let length = openLength + SealedFacts.length + AES256GCM.tagByteCount
    private static let saltLength = 32

    let keyNumber: UInt16
    let salt: [UInt8]
    let frameKey: SymmetricKey
    private let factsKey: SymmetricKey

    /// A new file's.
    init(_ keys: BlobKeys, salt: [UInt8]) {
        precondition(salt.count == Self.saltLength)
        keyNumber = keys.newest
        self.salt = salt
        (factsKey, frameKey) = Self.derive(keys.keys[Int(keys.newest)], salt)
    }

    static func randomSalt() -> [UInt8] { SystemRandom.bytes(count: saltLength) }

    /// The header in `bytes`, the first of the file at `path`.
    init(_ bytes: [UInt8], _ keys: BlobKeys, path: String) throws(BlobError) {
        guard bytes.count >= Self.length, bytes.starts(with: Self.magic) else {
            throw BlobError.damaged(path, "it does not begin as an encrypted blob does")
        }
        let (version, number) = bytes.withView {
            ($0.load(UInt16.self, at: 8), $0.load(UInt16.self, at: 10))
        }
        guard version == Self.version else {
            throw BlobError(
                .unsupportedFormat,
                "The blob file \(path) has format \(version); this Roost reads format \(Self.version).")
        }
        guard Int(number) < keys.keys.count else {
            throw BlobError(
                .unsupportedFormat, "The blob file \(path) needs key number \(number), which is not here.")
        }
        keyNumber = number
        salt = Array(bytes[16..<Self.openLength])
        (factsKey, frameKey) = Self.derive(keys.keys[Int(number)], salt)
    }

    private static func derive(_ key: SymmetricKey, _ salt: [UInt8]) -> (SymmetricKey, SymmetricKey) {
        let secret = HKDF.extract(from: key, salt: salt)
        return (
            HKDF.expand(secret, info: Array("Roost blob header".utf8), byteCount: 32),
            HKDF.expand(secret, info: Array("Roost blob frames".utf8), byteCount: 32)
        )
    }

    private var openPart: [UInt8] {
        let buffer = ByteBuffer(capacity: Self.length)
        buffer.append(Self.magic)
        buffer.append(integer: Self.version)
        buffer.append(integer: keyNumber)
        buffer.append(zeros: 4)
        buffer.append(salt)
        return buffer.view.array
    }

    /// The header with these facts.
    func sealed(_ facts: SealedFacts) -> [UInt8] {
        let open = openPart
        let text = facts.bytes
        var output = [UInt8](repeating: 0, count: SealedFacts.length + AES256GCM.tagByteCount)
        let nonce = [UInt8](repeating: 0, count: AES256GCM.nonceByteCount)
        unsafe output.withUnsafeMutableBytes { output in
            unsafe text.withUnsafeBytes { text in
                unsafe nonce.withUnsafeBytes { nonce in
                    unsafe open.withUnsafeBytes {
                        unsafe AES256GCM(derived: factsKey).seal(
                            text, into: output, nonce: nonce, authenticating: $0)
                    }
                }
            }
        }
        return open + output
    }

    /// The facts in the header `bytes`.
    func facts(_ bytes: [UInt8], path: String) throws(BlobError) -> SealedFacts {
        // The four bytes that are zero are authenticated too, since they are taken from what was read.
        let open = Array(bytes[..<Self.openLength])
        let sealed = Array(bytes[Self.openLength..<Self.length])
        let nonce = [UInt8](repeating: 0, count: AES256GCM.nonceByteCount)
        var text = [UInt8](repeating: 0, count: SealedFacts.length)
        let isRight = unsafe text.withUnsafeMutableBytes { text in
            unsafe sealed.withUnsafeBytes { sealed in
                unsafe nonce.withUnsafeBytes { nonce in
                    unsafe open.withUnsafeBytes { open in
                        do {
                            unsafe try AES256GCM(derived: factsKey).open(
                                sealed, into: text, nonce: nonce, authenticating: open)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
            }
        }
        guard isRight, let facts = SealedFacts(text) else {
            throw BlobError.damaged(path, "its header was changed, or written under another key")
        }
        return facts
    }
}

/// What an encrypted blob's header says of its content, 56 bytes:
///
///     0    1   the digest's algorithm: 1 SHA-1, 2 SHA-256
///     1    1   encoding: 0 none, 1 gzip
///     2    1   1 if the content was damaged already when a database was encrypted, 0 otherwise
///     3    5   zero
///     8    8   length of the stored bytes, which the frames hold
///     16   8   length of the content
///     24   32  digest of the content, filled up with zeros
struct SealedFacts: Equatable {
    static let length = 56

    var digest: BlobDigest
    var encoding: BlobEncoding
    var storedLength: UInt64
    var contentLength: UInt64
    /// Whether the content is known not to be what the digest says.
    var isDamaged = false

    var bytes: [UInt8] {
        let buffer = ByteBuffer(capacity: Self.length)
        buffer.append(digest.algorithm.rawValue)
        buffer.append(encoding.rawValue)
        buffer.append(UInt8(isDamaged ? 1 : 0))
        buffer.append(zeros: 5)
        buffer.append(integer: storedLength)
        buffer.append(integer: contentLength)
        buffer.append(digest.bytes)
        buffer.append(zeros: Self.length - buffer.count)
        return buffer.view.array
    }

    init(digest: BlobDigest, encoding: BlobEncoding, storedLength: UInt64, contentLength: UInt64) {
        self.digest = digest
        self.encoding = encoding
        self.storedLength = storedLength
        self.contentLength = contentLength
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length, let algorithm = BlobDigest.Algorithm(rawValue: bytes[0]),
            let encoding = BlobEncoding(rawValue: bytes[1]), bytes[2] <= 1,
            let digest = BlobDigest(algorithm, bytes[24..<24 + algorithm.byteCount])
        else { return nil }
        let (stored, content) = bytes.withView {
            ($0.load(UInt64.self, at: 8), $0.load(UInt64.self, at: 16))
        }
        guard encoding == .gzip || stored == content else { return nil }
        self.init(digest: digest, encoding: encoding, storedLength: stored, contentLength: content)
        isDamaged = bytes[2] == 1
    }
}
