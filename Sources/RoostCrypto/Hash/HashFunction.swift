/// A cryptographic hash function, fed piece by piece.
///
/// A value: copying it forks the computation. Takes inputs up to 2⁶¹ bytes in constant memory.
package protocol HashFunction: BitwiseCopyable, Sendable {
    /// Length of the digest in bytes.
    static var digestByteCount: Int { get }

    /// Nothing hashed yet. `path` is for tests and measurements, both give the same digests.
    init(path: ExecutionPath)

    /// Hashes `bytes` after all that was hashed before.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// The digest of everything hashed.
    consuming func finalize() -> Digest

    /// Writes the digest of everything hashed to `output` and nowhere else, for digests that are keys. What is left in the
    /// function is of no use but as secret as the digest.
    mutating func finalize(into output: UnsafeMutableRawPointer)
}

extension HashFunction {
    /// Nothing hashed yet.
    package init() { self.init(path: .hardware) }

    /// Hashes `bytes` after all that was hashed before.
    package mutating func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// The digest of `bytes`.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        var function = Self()
        unsafe function.update(bytes)
        return function.finalize()
    }

    /// The digest of `bytes`.
    package static func hash(_ bytes: [UInt8]) -> Digest {
        unsafe bytes.withUnsafeBytes { unsafe hash($0) }
    }
}
