/// SHA-1 (FIPS 180-4), for content addresses that CouchDB and Couchbase Lite share. Collisions can be made, so it
/// proves nothing about data from an adversary.
package struct SHA1: BlockHash {
    package static let digestByteCount = 20
    static let isBigEndian = true

    /// The chaining value, H₀ first (five words).
    private var state = SIMD8<UInt32>(
        0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0, 0, 0, 0)
    var pending = PendingBlock()
    private let usesHardware: Bool

    package init(path: ExecutionPath) {
        usesHardware = path != .portable && Processor.hasSHA1
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe absorb(bytes) }

    package consuming func finalize() -> Digest { finish() }

    package mutating func finalize(into output: UnsafeMutableRawPointer) { unsafe finish(into: output) }

    mutating func compress(_ blocks: UnsafeRawPointer, blockCount: Int) {
        if usesHardware {
            unsafe HardwareSHA1.compress(&state, blocks, blockCount: blockCount)
        } else {
            unsafe PortableSHA1.compress(&state, blocks, blockCount: blockCount)
        }
    }

    mutating func storeState(to target: UnsafeMutableRawPointer) {
        unsafe withUnsafeMutableBytes(of: &state) { words in
            for offset in stride(from: 0, to: Self.digestByteCount, by: 4) {
                let word = unsafe words.load(fromByteOffset: offset, as: UInt32.self)
                unsafe target.storeBytes(of: word.bigEndian, toByteOffset: offset, as: UInt32.self)
            }
        }
    }
}
