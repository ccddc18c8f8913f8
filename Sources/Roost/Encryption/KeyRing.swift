import RoostBytes
import RoostCrypto
import RoostStorage
import Synchronization

/// Makes and opens the encryption of a database's files with one user's key.
///
/// Deriving a key from a passphrase takes long on purpose, so what was derived is kept for the files to come. Any thread
/// may use it.
package final class KeyRing: ChunkTransformFactory {
    private let key: EncryptionKey
    private let derived = Mutex<Derived?>(nil)

    private struct Derived {
        let salt: [UInt8]
        let rounds: UInt32
        let key: SymmetricKey
    }

    /// The encryption of files that `key` opens.
    package init(_ key: EncryptionKey) { self.key = key }

    package func open(parameters: [UInt8], fileID: [UInt8]) -> (any ChunkTransform)? {
        guard let wrap = KeyWrap(parameters), wrap.kind == key.kind else { return nil }
        let wrapping = wrappingKey(wrap.salt, wrap.rounds)
        return wrap.unwrap(with: wrapping, fileID: fileID).map { ChunkCipher($0) }
    }

    package func create(
        fileID: [UInt8], after previous: (any ChunkTransform)?
    ) -> (transform: any ChunkTransform, parameters: [UInt8]) {
        let (salt, rounds) =
            derived.withLock { $0.map { ($0.salt, $0.rounds) } }
            ?? (SystemRandom.bytes(count: KeyWrap.saltLength), key.kind == .raw ? 0 : KeyWrap.defaultRounds)
        let keys = FileKeys(vault: (previous as? ChunkCipher)?.vault.key)
        let wrap = KeyWrap(
            keys, fileID: fileID, wrapping: wrappingKey(salt, rounds), key.kind, rounds: rounds, salt: salt)
        return (ChunkCipher(keys), wrap.bytes)
    }

    private func wrappingKey(_ salt: [UInt8], _ rounds: UInt32) -> SymmetricKey {
        let known = derived.withLock { known in
            known.flatMap { $0.salt == salt && $0.rounds == rounds ? $0.key : nil }
        }
        if let known { return known }
        let secret =
            key.kind == .raw
            ? key.secret
            : PBKDF2.deriveKeyWithSHA256(password: key.secret, salt: salt, rounds: Int(max(rounds, 1)))
        let wrapping = HKDF.deriveKey(from: secret, salt: salt, info: Array("Roost key wrap".utf8))
        derived.withLock { $0 = Derived(salt: salt, rounds: rounds, key: wrapping) }
        return wrapping
    }
}

// MARK: - FileKeys

/// The secrets of one encrypted file, which its header keeps wrapped.
struct FileKeys: Sendable {
    /// What the file is encrypted with. No other file has it.
    let file: SymmetricKey
    /// What keys among the file's content are sealed with. It stays when a compaction makes another file of the content.
    let vault: SymmetricKey

    /// The bytes of both together.
    static let byteCount = 2 * EncryptionKey.byteCount

    /// Those of a new file, which takes over content that was sealed with `vault`, if any was.
    init(vault: SymmetricKey?) {
        file = .random()
        self.vault = vault ?? .random()
    }

    /// Those that ``bytes`` holds.
    /// - Precondition: there are ``byteCount`` of them.
    init(_ bytes: SymmetricKey) {
        let keys = bytes.parts(of: EncryptionKey.byteCount)
        (file, vault) = (keys[0], keys[1])
    }

    /// The file's key, then the vault's.
    var bytes: SymmetricKey { SymmetricKey(joining: [file, vault]) }
}

// MARK: - ChunkCipher

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
