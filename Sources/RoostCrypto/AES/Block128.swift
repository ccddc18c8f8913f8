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
