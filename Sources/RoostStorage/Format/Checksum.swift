import RoostBytes

/// The format's checksum (FileFormat.md, section 2.1): XXH3 of the bytes, mixed with a seed that differs from file to file and
/// in most cases from place to place. The seed comes last, so that no secret need be derived from it for each checksum.
package struct Checksum {
    private var hash = XXH3()
    private let seed: UInt64

    /// Of no bytes yet, for a commit's content, which is hashed as it goes.
    init(seed: UInt64) { self.seed = seed }

    /// Adds whole blocks, after which at least the rest of another one must follow.
    mutating func update(_ blocks: ByteView) { hash.update(blocks) }

    /// The checksum of everything added and then `rest`, a commit's last bytes before its record.
    func finalize(_ rest: ByteView) -> UInt64 { Checksum.mix(hash.finalize(rest), seed) }

    package static func of(_ bytes: ByteView, seed: UInt64) -> UInt64 { mix(XXH3.hash(bytes), seed) }

    @inline(__always) private static func mix(_ hash: UInt64, _ seed: UInt64) -> UInt64 {
        XXH3.avalanche(hash ^ seed)
    }
}
