import RoostBytes
import RoostCrypto
import RoostStorage
import Synchronization

/// Seals the chunks of one file with AES-256-GCM (NIST SP 800-38D) under keys derived from the file's own.
///
/// ```
/// nonce (12) | ciphertext | tag (16)
/// ```
/// The chunk's offset (7, little-endian), kind (1) and the number of the history that it was written in (8) are
/// authenticated along with it, so a chunk opens only where it was written, and only in its file, whose key no other file
/// has, and not in a copy of that which was written on separately. Commit records carry HMAC-SHA-256 of the header and
/// their fields, the tag of the record before among them.
final class ChunkCipher: ChunkTransform {
    private static let nonceLength = 12

    private let cipher: AES256GCM
    private let recordKey: SymmetricKey
    private let nonces = Mutex(NonceSequence())
    /// Seals keys that stand in the file's content.
    let vault: KeyVault

    let overhead = ChunkCipher.nonceLength + AES256GCM.tagByteCount

    init(_ keys: FileKeys) {
        cipher = AES256GCM(
            derived: HKDF.expand(keys.file, info: Array("Roost chunks".utf8), byteCount: 32))
        recordKey = HKDF.expand(keys.file, info: Array("Roost commit records".utf8), byteCount: 32)
        vault = KeyVault(keys.vault)
    }

    func seal(_ plaintext: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer) {
        let start = output.count
        var nonce = nonces.withLock { $0.next() }
        output.resize(to: start + plaintext.count + overhead)
        unsafe withUnsafeBytes(of: &nonce) { nonce in
            let place = unsafe UnsafeMutableRawBufferPointer(rebasing: output.mutableBytes[start...])
            unsafe place.copyMemory(from: nonce)
            let sealed = unsafe UnsafeMutableRawBufferPointer(rebasing: place[ChunkCipher.nonceLength...])
            var bound = BoundFields(kind: kind, offset: offset, history: history)
            unsafe bound.withBytes {
                unsafe cipher.seal(plaintext.buffer, into: sealed, nonce: nonce, authenticating: $0)
            }
        }
    }

    func open(
        _ sealed: ByteView, kind: UInt8, offset: UInt64, history: UInt64, into output: ByteBuffer
    ) -> Bool {
        guard sealed.count >= overhead else { return false }
        let start = output.count
        output.resize(to: start + sealed.count - overhead)
        let text = unsafe UnsafeMutableRawBufferPointer(rebasing: output.mutableBytes[start...])
        var bound = BoundFields(kind: kind, offset: offset, history: history)
        do {
            unsafe try bound.withBytes { bound throws(CryptoError) in
                unsafe try cipher.open(
                    sealed.dropFirst(ChunkCipher.nonceLength).buffer, into: text,
                    nonce: sealed.slice(0, ChunkCipher.nonceLength).buffer, authenticating: bound)
            }
            return true
        } catch {
            output.resize(to: start)
            return false
        }
    }

    func authenticate(_ bytes: ByteView) -> [UInt8] {
        var code = HMAC<SHA256>(key: recordKey)
        unsafe code.update(bytes.buffer)
        return code.finalize().bytes
    }

    /// What is authenticated with a chunk, 16 bytes: one block of the cipher, which loads it as a vector.
    private struct BoundFields {
        private var fields: SIMD2<UInt64>

        init(kind: UInt8, offset: UInt64, history: UInt64) {
            fields = SIMD2((offset | UInt64(kind) << 56).littleEndian, history.littleEndian)
        }

        mutating func withBytes<E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
            let result: Result<Void, E> = unsafe withUnsafeBytes(of: &fields) { bytes in
                do throws(E) {
                    return .success(unsafe try body(bytes))
                } catch {
                    return .failure(error)
                }
            }
            try result.get()
        }
    }
}

/// Nonces that never repeat under one key: eight random bytes, drawn anew each time a file is opened and every 2^32
/// chunks, and a counter. A file would have to be opened some four billion times before two draws are likely to
/// agree, where a crash could have had the same counter lead to other bytes.
private struct NonceSequence {
    private var prefix: UInt64 = 0
    private var counter: UInt32 = 0

    mutating func next() -> (UInt32, UInt32, UInt32) {
        if counter == 0 {
            unsafe withUnsafeMutableBytes(of: &prefix) { unsafe SystemRandom.fill($0) }
        }
        counter &+= 1
        return (UInt32(truncatingIfNeeded: prefix), UInt32(truncatingIfNeeded: prefix >> 32), counter)
    }
}
