import RoostCrypto

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
