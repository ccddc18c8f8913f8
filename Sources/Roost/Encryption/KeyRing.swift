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
