/// The fifteen round keys of AES-256 (FIPS 197, section 5.2), in the forms that one of the two paths needs.
///
/// Computed once per key in constant time: the S-box is the bitsliced one, never a table.
struct KeySchedule: ~Copyable, Sendable {
    static let keyByteCount = 32
    static let roundCount = 14

    /// The standard round keys, and from byte 256 on what the path needs besides.
    private let memory: SecretMemory

    /// Whether the instructions that work on several blocks at once are to be used.
    let usesWideInstructions: Bool

    /// The round keys as the standard writes them, 240 bytes aligned to 64.
    @inline(__always)
    var standard: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.start) }

    /// The round keys for decryption as the processor's instructions want them, 240 bytes aligned to 64.
    /// Only for the hardware path.
    @inline(__always)
    var inverse: UnsafeRawPointer { unsafe UnsafeRawPointer(memory.start + 256) }

    /// The round keys for ``BitslicedBlocks``: repeated for its eight blocks, with ShiftRows undone as often as the
    /// round's state has it, and all but the first with SubBytes' constant added. Only for the portable path.
    @inline(__always)
    var bitsliced: UnsafePointer<BitslicedBlocks<NativeBitPlane>> { unsafe UnsafePointer(slices) }

    /// - Precondition: `key` has 32 bytes.
    init(key: SymmetricKey, path: ExecutionPath) {
        let forHardware = path != .portable && Processor.hasAES
        usesWideInstructions = path == .hardware && Processor.hasWideAES
        precondition(key.byteCount == Self.keyByteCount)
        let sliceByteCount = MemoryLayout<BitslicedBlocks<NativeBitPlane>>.stride
        memory = SecretMemory(byteCount: 256 + (forHardware ? 240 : (Self.roundCount + 1) * sliceByteCount))
        unsafe key.withUnsafeBytes {
            unsafe memory.start.copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
        expand()
        if forHardware {
            unsafe HardwareAES.invertKeys(memory.start + 256, standard)
        } else {
            for round in 0...Self.roundCount { slice(round) }
        }
    }

    /// Derives words 8…59 from the key's eight words.
    private func expand() {
        let words = unsafe memory.start.assumingMemoryBound(to: UInt32.self)
        var constant: UInt32 = 1
        for index in 8..<60 {
            var word = unsafe UInt32(littleEndian: words[index - 1])
            if index % 8 == 0 {
                word = Self.substitute((word >> 8) | (word << 24)) ^ constant
                constant <<= 1
            } else if index % 8 == 4 {
                word = Self.substitute(word)
            }
            unsafe words[index] = words[index - 8] ^ word.littleEndian
        }
    }

    /// The S-box on each byte of a word.
    private static func substitute(_ word: UInt32) -> UInt32 {
        let block = Block128(first: UInt64(word).littleEndian, second: 0)
        var blocks = BitslicedBlocks<NativeBitPlane>(repeating: block)
        blocks.substitute()
        return UInt32(truncatingIfNeeded: blocks.blocks().0.first.littleEndian) ^ 0x6363_6363
    }

    /// Brings one round key into bitsliced form.
    private func slice(_ round: Int) {
        let source = unsafe standard + 16 * round
        let undone = round < Self.roundCount ? round : 0
        var shifted = Block128.zero
        for row in 0..<4 {
            for column in 0..<4 {
                let byte = unsafe (source + 4 * column + row).load(as: UInt8.self)
                shifted[byte: 4 * ((column + undone * row) & 3) + row] = round > 0 ? byte ^ 0x63 : byte
            }
        }
        unsafe slices[round] = BitslicedBlocks(repeating: shifted)
        wipe(&shifted)
    }

    private var slices: UnsafeMutablePointer<BitslicedBlocks<NativeBitPlane>> {
        unsafe (memory.start + 256).assumingMemoryBound(to: BitslicedBlocks<NativeBitPlane>.self)
    }
}

// MARK: - Block128

/// Sixteen bytes: an AES block, a counter block, an initialisation vector.
///
/// `first` and `second` hold bytes 0…7 and 8…15 in the order they have in memory. They are one vector, so that what loads them as one
/// does not wait for two stores.
package struct Block128: BitwiseCopyable, Sendable, Equatable {
    private var words: SIMD2<UInt64>

    var first: UInt64 {
        get { words[0] }
        set { words[0] = newValue }
    }

    var second: UInt64 {
        get { words[1] }
        set { words[1] = newValue }
    }

    package static let byteCount = 16
    package static let zero = Block128(first: 0, second: 0)

    init(first: UInt64, second: UInt64) {
        words = SIMD2(first, second)
    }

    /// The 16 bytes at `source`, which need not be aligned.
    @inline(__always)
    package init(loading source: UnsafeRawPointer) {
        words = unsafe source.loadUnaligned(as: SIMD2<UInt64>.self)
    }

    /// Two integers written big-endian one after the other.
    @inline(__always)
    package init(bigEndian high: UInt64, _ low: UInt64) {
        words = SIMD2(high.bigEndian, low.bigEndian)
    }

    /// The block starting with `bytes` (at most 16), the rest zero.
    init(padding bytes: UnsafeRawBufferPointer) {
        self = .zero
        unsafe withUnsafeMutableBytes(of: &self) { unsafe $0.copyMemory(from: bytes) }
    }

    /// Writes the 16 bytes to `target`, which need not be aligned.
    @inline(__always)
    package func store(to target: UnsafeMutableRawPointer) {
        unsafe target.storeBytes(of: words, as: SIMD2<UInt64>.self)
    }

    @inline(__always)
    static func ^ (a: Block128, b: Block128) -> Block128 {
        var block = a
        block.words ^= b.words
        return block
    }

    /// Adds to the 128-bit big-endian number that the block is, modulo 2¹²⁸.
    @inline(__always)
    mutating func increment(by count: UInt64) {
        let (low, carry) = UInt64(bigEndian: second).addingReportingOverflow(count)
        second = low.bigEndian
        first = (UInt64(bigEndian: first) &+ (carry ? 1 : 0)).bigEndian
    }

    /// Adds to the 32-bit big-endian number in the last four bytes, modulo 2³², as GCM counts.
    @inline(__always)
    mutating func increment32(by count: UInt32) {
        let number = UInt64(bigEndian: second)
        let low = UInt32(truncatingIfNeeded: number) &+ count
        second = (number & 0xFFFF_FFFF_0000_0000 | UInt64(low)).bigEndian
    }

    /// One byte by its place in memory order, 0…15.
    subscript(byte index: Int) -> UInt8 {
        get { unsafe withUnsafeBytes(of: self) { unsafe $0[index] } }
        set { unsafe withUnsafeMutableBytes(of: &self) { unsafe $0[index] = newValue } }
    }

    /// The counter block that follows after `count` more.
    @inline(__always)
    func counting(_ count: UInt32) -> Block128 {
        var block = self
        block.increment32(by: count)
        return block
    }
}
