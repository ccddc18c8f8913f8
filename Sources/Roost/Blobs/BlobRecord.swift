import RoostBlobs
import RoostCrypto

/// What the catalog says of the blobs of an encrypted database: their keys, which the file's encryption protects. So
/// another key for the database needs no rewriting of blobs.
///
///     version   1 byte     01
///     state     1 byte     01 all are sealed, 02 some may not be yet
///     keys      32 bytes each, oldest first
///
/// A database that is not encrypted has this record only while its blobs are being decrypted.
struct BlobRecord {
    private static let version: UInt8 = 1

    var isConverting: Bool
    private(set) var keys: [SymmetricKey]

    /// A new one, with a random key.
    init(isConverting: Bool) {
        self.isConverting = isConverting
        keys = [.random()]
    }

    var layout: BlobLayout { .sealed(BlobKeys(keys)) }

    /// Adds a random key, which seals the blobs to come. The last that there is room for stays.
    mutating func addKey() {
        if keys.count < BlobKeys.maximumCount { keys.append(.random()) }
    }

    var encoded: [UInt8] {
        var bytes = [Self.version, isConverting ? 2 : 1]
        for key in keys { unsafe key.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
        return bytes
    }

    init(_ bytes: [UInt8]) throws(DatabaseError) {
        let length = EncryptionKey.byteCount
        guard bytes.count > 2, bytes[0] == Self.version, (1...2).contains(bytes[1]),
            (bytes.count - 2) % length == 0, (bytes.count - 2) / length <= BlobKeys.maximumCount
        else { throw DatabaseError.damaged("The record of the blobs' keys") }
        isConverting = bytes[1] == 2
        keys = stride(from: 2, to: bytes.count, by: length).map {
            SymmetricKey(Array(bytes[$0..<$0 + length]))
        }
    }
}
