import RoostBlobs
import RoostCrypto

/// What the catalog says of the blobs of an encrypted database: their keys. The file's encryption protects them as all of
/// its content, so another key for the database needs no rewriting of blobs; and ``KeyVault`` seals them once more.
///
///     version   1 byte     01
///     state     1 byte     01 all blobs are sealed, 02 some may not be yet, 03 the database is being decrypted
///     keys      sealed by the vault, with the two bytes before authenticated along with them; in state 03 32 bytes each,
///               as they are; oldest first
///
/// A database that is not encrypted has this record only while its blobs are being decrypted.
struct BlobRecord {
    enum State: UInt8 {
        case sealed = 1
        /// Some blobs may not be sealed yet.
        case sealing = 2
        /// The keys are to be read without the vault, whose key goes with the file's.
        case unsealing = 3
    }

    private static let version: UInt8 = 1

    var state: State
    private(set) var keys: [SymmetricKey]

    /// A new one, with a random key.
    init(_ state: State) {
        self.state = state
        keys = [.random()]
    }

    var layout: BlobLayout { .sealed(BlobKeys(keys)) }

    /// Adds a random key, which seals the blobs to come. The last that there is room for stays.
    mutating func addKey() {
        if keys.count < BlobKeys.maximumCount { keys.append(.random()) }
    }

    private static func context(_ state: State) -> [UInt8] { [version, state.rawValue] }

    /// - Parameter vault: what seals the keys, in every state but ``State/unsealing``.
    func encoded(_ vault: KeyVault?) throws(DatabaseError) -> [UInt8] {
        let context = Self.context(state)
        if state == .unsealing {
            return unsafe context + SymmetricKey(joining: keys).withUnsafeBytes { unsafe [UInt8]($0) }
        }
        guard let vault else { throw Self.sealedElsewhere }
        return context + vault.seal(keys, context: context)
    }

    init(_ bytes: [UInt8], _ vault: KeyVault?) throws(DatabaseError) {
        guard bytes.count > 2, bytes[0] == Self.version, let state = State(rawValue: bytes[1]) else {
            throw Self.damaged
        }
        self.state = state
        let kept = Array(bytes[2...])
        let joined: SymmetricKey?
        if state == .unsealing {
            joined = SymmetricKey(kept)
        } else {
            guard let vault else { throw Self.sealedElsewhere }
            joined = vault.open(kept, context: Self.context(state))
        }
        guard let joined, joined.byteCount > 0, joined.byteCount % EncryptionKey.byteCount == 0,
            joined.byteCount / EncryptionKey.byteCount <= BlobKeys.maximumCount
        else { throw Self.damaged }
        keys = joined.parts(of: EncryptionKey.byteCount)
    }

    private static let damaged = DatabaseError.damaged("The record of the blobs' keys")
    private static let sealedElsewhere = DatabaseError(
        .damaged, "The blobs' keys are sealed under the key of an encrypted file, which this one is not.")
}
