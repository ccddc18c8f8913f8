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

// MARK: - BlobKeys

/// The keys of an encrypted blob store, oldest first. New blobs are sealed under the newest; the others open what was
/// sealed before. A blob's file says which one it needs.
package struct BlobKeys: Sendable {
    /// The most keys that a store can have had.
    package static let maximumCount = 65_535

    /// Each of 32 random bytes; at least one.
    package let keys: [SymmetricKey]
    private let nameKey: SymmetricKey

    /// - Precondition: 1 to ``maximumCount`` keys of 32 bytes.
    package init(_ keys: [SymmetricKey]) {
        precondition(!keys.isEmpty && keys.count <= Self.maximumCount)
        precondition(keys.allSatisfy { $0.byteCount == AES256.keyByteCount })
        self.keys = keys
        // Names have to stay when the key changes, or a blob could be stored twice and not be found.
        nameKey = HKDF.deriveKey(from: keys[0], salt: [], info: Array("Roost blob names".utf8))
    }

    var newest: UInt16 { UInt16(truncatingIfNeeded: keys.count - 1) }

    /// The file name that stands for a digest without betraying it: the first 20 bytes, in hexadecimal digits, of
    /// HMAC-SHA-256 of the algorithm's number (1 byte) and the digest.
    func name(of digest: BlobDigest) -> String {
        BlobName.sealed(
            HMAC<SHA256>.authenticate([digest.algorithm.rawValue] + digest.bytes, key: nameKey))
    }
}

// MARK: - Frames

/// Where the frames of an encrypted blob are. A frame takes 4096 bytes of the file, the last one what it needs: its
/// ciphertext and the tag of 16 bytes. The header comes first in frame 0. There is always one frame.
enum Frames {
    static let length = 4096
    /// The content in a frame other than the first, in bytes.
    static let capacity = length - AES256GCM.tagByteCount
    /// The content in frame 0, in bytes.
    static let firstCapacity = capacity - SealedHeader.length
    /// The longest content: far below what frame numbers and file offsets can count.
    static let maximumContent: UInt64 = 1 << 62

    /// How many frames hold `content` bytes.
    static func count(_ content: UInt64) -> UInt64 {
        content <= UInt64(firstCapacity)
            ? 1 : 1 + (content - UInt64(firstCapacity) + UInt64(capacity) - 1) / UInt64(capacity)
    }

    /// The size of the file that holds `content` bytes.
    static func fileSize(_ content: UInt64) -> UInt64 {
        UInt64(SealedHeader.length) + content + count(content) * UInt64(AES256GCM.tagByteCount)
    }

    /// The frame that holds the byte at `offset` of the content.
    static func index(of offset: UInt64) -> UInt64 {
        offset < UInt64(firstCapacity) ? 0 : 1 + (offset - UInt64(firstCapacity)) / UInt64(capacity)
    }

    /// The offset in the content of a frame's first byte.
    static func contentOffset(_ frame: UInt64) -> UInt64 {
        frame == 0 ? 0 : UInt64(firstCapacity) + (frame - 1) * UInt64(capacity)
    }

    /// The offset in the file of a frame's ciphertext.
    static func fileOffset(_ frame: UInt64) -> UInt64 {
        frame == 0 ? UInt64(SealedHeader.length) : frame * UInt64(length)
    }

    /// The most content that a frame can hold.
    static func capacity(of frame: UInt64) -> Int { frame == 0 ? firstCapacity : capacity }
}

/// Seals and opens the frames of one file with AES-256-GCM under the file's frame key.
///
/// The nonce is the frame's number (8 bytes, little-endian), 1 in the last frame and 0 in others (1 byte), and three
/// zeros: a frame opens in its place only, and only in its file, whose key no other file has. Each nonce is used once,
/// because a file is written once.
struct FrameCipher {
    private let cipher: AES256GCM

    init(_ key: SymmetricKey) { cipher = AES256GCM(derived: key) }

    /// - Precondition: `output` has 16 bytes more than `text`.
    func seal(
        _ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, frame: UInt64,
        isLast: Bool
    ) {
        let nonce = Self.nonce(frame, isLast)
        unsafe withUnsafeBytes(of: nonce) {
            let nonce = unsafe UnsafeRawBufferPointer(rebasing: $0[..<AES256GCM.nonceByteCount])
            unsafe cipher.seal(
                text, into: output, nonce: nonce, authenticating: UnsafeRawBufferPointer(start: nil, count: 0)
            )
        }
    }

    /// Whether the frame is authentic; `output`, 16 bytes shorter than `sealed`, has the content then.
    func open(
        _ sealed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, frame: UInt64,
        isLast: Bool
    ) -> Bool {
        let nonce = Self.nonce(frame, isLast)
        return unsafe withUnsafeBytes(of: nonce) {
            let nonce = unsafe UnsafeRawBufferPointer(rebasing: $0[..<AES256GCM.nonceByteCount])
            do {
                unsafe try cipher.open(
                    sealed, into: output, nonce: nonce,
                    authenticating: UnsafeRawBufferPointer(start: nil, count: 0))
                return true
            } catch {
                return false
            }
        }
    }

    private static func nonce(_ frame: UInt64, _ isLast: Bool) -> (UInt64, UInt32) {
        (frame.littleEndian, UInt32(isLast ? 1 : 0).littleEndian)
    }
}
