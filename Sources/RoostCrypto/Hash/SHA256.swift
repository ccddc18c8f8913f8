/// SHA-256 (FIPS 180-4).
package struct SHA256: BlockHash {
    package static let digestByteCount = 32
    static let isBigEndian = true

    /// The chaining value, H₀ first.
    private var state = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19
    )
    var pending = PendingBlock()
    private let usesHardware: Bool

    package init(path: ExecutionPath) {
        usesHardware = path != .portable && Processor.hasSHA256
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe absorb(bytes) }

    package consuming func finalize() -> Digest { finish() }

    package mutating func finalize(into output: UnsafeMutableRawPointer) { unsafe finish(into: output) }

    mutating func compress(_ blocks: UnsafeRawPointer, blockCount: Int) {
        if usesHardware {
            unsafe HardwareSHA256.compress(&state, blocks, blockCount: blockCount)
        } else {
            unsafe PortableSHA256.compress(&state, blocks, blockCount: blockCount)
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
