import RoostBytes
import RoostCrypto
import RoostFile

/// Writes an encrypted file of Couchbase Lite.
final class CompatibleSink: ByteSink {
    private let file: any File
    private let cipher: AES256
    private let nonce: [UInt8]
    private let staging = Staging(limit: 64 * CompatibleBlocks.length)
    private let output = ByteBuffer(capacity: 64 * CompatibleBlocks.length + 16)
    private var nextBlock: UInt64 = 0

    init(_ file: any File, _ key: CompatibleKey) {
        self.file = file
        nonce = SystemRandom.bytes(count: CompatibleBlocks.nonceLength)
        cipher = key.cipher(nonce: nonce)
    }

    deinit { staging.wipe() }

    func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        var done = 0
        while done < bytes.count {
            unsafe done += staging.take(UnsafeRawBufferPointer(rebasing: bytes[done...]))
            if staging.isFull { try encrypt(isEnd: false) }
        }
    }

    func finish(_ facts: SealedFacts) throws(BlobError) { try encrypt(isEnd: true) }

    private func encrypt(isEnd: Bool) throws(BlobError) {
        let text = staging.view
        let start = nextBlock * UInt64(CompatibleBlocks.length)
        let blockCount = text.count / CompatibleBlocks.length
        let whole = blockCount * CompatibleBlocks.length
        output.reset()
        output.resize(to: whole)
        let first = nextBlock
        unsafe cipher.encryptChains(
            text.slice(0, whole).buffer, into: output.mutableBytes, chainByteCount: CompatibleBlocks.length
        ) { CompatibleBlocks.initializationVector(first + UInt64($0)) }
        nextBlock += UInt64(blockCount)
        if isEnd {
            let rest = text.dropFirst(whole)
            output.resize(to: whole + AES256.paddedByteCount(rest.count))
            unsafe AES256.CBCEncryption(
                cipher, initializationVector: CompatibleBlocks.initializationVector(nextBlock)
            ).finish(
                rest.buffer, into: UnsafeMutableRawBufferPointer(rebasing: output.mutableBytes[whole...]))
            output.append(nonce)
        }
        try medium { () throws(FileError) in unsafe try file.writeFully(output.view.buffer, at: start) }
        staging.clear()
    }
}

/// Reads an encrypted file of Couchbase Lite, a block at a time.
final class CompatibleSource: ByteSource {
    let length: UInt64
    private let file: any File
    private let cipher: AES256
    private let text = ByteBuffer(capacity: CompatibleBlocks.length)
    private var textBlock: UInt64?
    /// The length of the ciphertext.
    private let encryptedLength: UInt64

    init(_ file: any File, size: UInt64, _ key: CompatibleKey) throws(BlobError) {
        self.file = file
        let nonceLength = UInt64(CompatibleBlocks.nonceLength)
        guard size >= nonceLength + 16, size % 16 == 0 else {
            throw BlobError.damaged(file.path, "its size is none that Couchbase Lite writes")
        }
        encryptedLength = size - nonceLength
        var nonce = [UInt8](repeating: 0, count: CompatibleBlocks.nonceLength)
        try nonce.fill(from: file, at: encryptedLength)
        cipher = key.cipher(nonce: nonce)
        // Only the padding tells how long the content is.
        let last = (encryptedLength - 1) / UInt64(CompatibleBlocks.length)
        try Self.load(last, file, cipher, encryptedLength, into: text)
        length = last * UInt64(CompatibleBlocks.length) + UInt64(text.count)
        textBlock = last
    }

    deinit {
        text.resize(to: CompatibleBlocks.length)
        unsafe text.mutableBytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) {
        var done = 0
        while done < buffer.count {
            let (block, skipped) = (offset + UInt64(done)).quotientAndRemainder(
                dividingBy: UInt64(CompatibleBlocks.length))
            if textBlock != block {
                textBlock = nil
                try Self.load(block, file, cipher, encryptedLength, into: text)
                textBlock = block
            }
            let count = min(buffer.count - done, text.count - Int(skipped))
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(
                from: text.view.slice(Int(skipped), count).buffer)
            done += count
        }
    }

    /// Decrypts a block, the last one without its padding.
    private static func load(
        _ block: UInt64, _ file: any File, _ cipher: AES256, _ encryptedLength: UInt64, into text: ByteBuffer
    ) throws(BlobError) {
        let start = block * UInt64(CompatibleBlocks.length)
        let count = Int(min(UInt64(CompatibleBlocks.length), encryptedLength - start))
        text.resize(to: count)
        let read = try medium { () throws(FileError) in
            unsafe try file.readFully(into: text.mutableBytes, at: start)
        }
        guard read == count else { throw BlobError.damaged(file.path, "it was cut off") }
        var chain = AES256.CBCDecryption(
            cipher, initializationVector: CompatibleBlocks.initializationVector(block))
        let isLast = start + UInt64(count) == encryptedLength
        guard isLast else {
            unsafe chain.decrypt(text.view.buffer, into: text.mutableBytes)
            return
        }
        do throws(CryptoError) {
            let length = unsafe try chain.finish(text.view.buffer, into: text.mutableBytes)
            text.resize(to: length)
        } catch {
            throw BlobError.damaged(file.path, "its padding is not right, or the key is another one")
        }
    }
}

// MARK: - CompatibleBlocks

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
