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

// MARK: - Digest

/// The result of a hash function or message authentication code: 16, 20 or 32 bytes.
///
/// Comparison takes the same time wherever the digests differ.
package struct Digest: Hashable, Sendable, BitwiseCopyable, CustomStringConvertible {
    private var storage: SIMD32<UInt8>
    /// Length in bytes.
    package let byteCount: Int

    /// Zero bytes that `write` fills in.
    init(byteCount: Int, filledBy write: (UnsafeMutableRawPointer) -> Void) {
        storage = .zero
        self.byteCount = byteCount
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe write($0.baseAddress!) }
    }

    /// Lends the bytes to `body`, which must not keep the pointer.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe Swift.withUnsafeBytes(of: storage) { (bytes) throws(Failure) in
            unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[..<byteCount]))
        }
    }

    /// The digest's bytes.
    package var bytes: [UInt8] { unsafe withUnsafeBytes { unsafe [UInt8]($0) } }

    package static func == (a: Digest, b: Digest) -> Bool {
        unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { b in unsafe constantTimeEqual(a, b) } }
    }

    package func hash(into hasher: inout Hasher) {
        unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// Lowercase hexadecimal digits.
    package var description: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

// MARK: - BlockHash

/// A hash function of the Merkle–Damgård kind with blocks of 64 bytes and a 64-bit length at the end: MD5, SHA-1 and
/// SHA-256 differ in the compression function and in byte order only.
protocol BlockHash: HashFunction {
    /// Bytes that do not fill a block yet.
    var pending: PendingBlock { get set }

    /// Whether the length at the end is written big-endian.
    static var isBigEndian: Bool { get }

    /// Takes `blockCount` blocks of 64 bytes into the state.
    mutating func compress(_ blocks: UnsafeRawPointer, blockCount: Int)

    /// Writes the state as the digest has it, from where it stands: it may be a key, of which no copy is to be left.
    mutating func storeState(to target: UnsafeMutableRawPointer)
}

/// Up to 63 bytes waiting for the rest of their block, and how many bytes came in all.
struct PendingBlock: BitwiseCopyable, Sendable {
    static let blockByteCount = 64

    var bytes: SIMD64<UInt8> = .zero
    var totalByteCount: UInt64 = 0

    /// How many of `bytes` are in use.
    var count: Int { Int(truncatingIfNeeded: totalByteCount) & 63 }
}

extension BlockHash {
    /// The common part of ``HashFunction/update(_:)``.
    @inline(__always)
    mutating func absorb(_ bytes: UnsafeRawBufferPointer) {
        guard var source = bytes.baseAddress else { return }
        var rest = bytes.count
        let used = pending.count
        pending.totalByteCount &+= UInt64(rest)
        if used > 0 {
            let taken = min(rest, PendingBlock.blockByteCount - used)
            unsafe keep(source, taken, at: used)
            guard used + taken == PendingBlock.blockByteCount else { return }
            compressPending()
            unsafe source += taken
            rest -= taken
        }
        let blockCount = rest / PendingBlock.blockByteCount
        if blockCount > 0 {
            unsafe compress(source, blockCount: blockCount)
            unsafe source += blockCount * PendingBlock.blockByteCount
            rest %= PendingBlock.blockByteCount
        }
        unsafe keep(source, rest, at: 0)
    }

    /// The common part of ``HashFunction/finalize()``.
    @inline(__always)
    consuming func finish() -> Digest {
        var hash = self
        return unsafe Digest(byteCount: Self.digestByteCount) { unsafe hash.finish(into: $0) }
    }

    /// The common part of ``HashFunction/finalize(into:)``: a one bit, zeros, the length in bits, the digest.
    @inline(__always)
    mutating func finish(into output: UnsafeMutableRawPointer) {
        let bitCount = pending.totalByteCount &* 8
        var used = pending.count
        var padding: UInt64 = 0x80
        if used >= 56 {
            clearPending(from: used)
            unsafe keep(&padding, 1, at: used)
            compressPending()
            used = 0
            padding = 0
        }
        clearPending(from: used)
        unsafe keep(&padding, 1, at: used)
        var length = Self.isBigEndian ? bitCount.bigEndian : bitCount.littleEndian
        unsafe keep(&length, 8, at: 56)
        compressPending()
        unsafe storeState(to: output)
    }

    @inline(__always)
    private mutating func keep(_ source: UnsafeRawPointer, _ count: Int, at offset: Int) {
        unsafe withUnsafeMutableBytes(of: &pending.bytes) {
            unsafe ($0.baseAddress! + offset).copyMemory(from: source, byteCount: count)
        }
    }

    @inline(__always)
    private mutating func clearPending(from offset: Int) {
        unsafe withUnsafeMutableBytes(of: &pending.bytes) {
            _ = unsafe ($0.baseAddress! + offset).initializeMemory(
                as: UInt8.self, repeating: 0, count: PendingBlock.blockByteCount - offset)
        }
    }

    @inline(__always)
    private mutating func compressPending() {
        var block = pending.bytes
        unsafe withUnsafeMutableBytes(of: &block) { unsafe compress($0.baseAddress!, blockCount: 1) }
        wipe(&block)
    }
}

/// The big-endian 32-bit number at `source`, which need not be aligned.
@inline(__always)
func loadBigEndian(_ source: UnsafeRawPointer) -> UInt32 {
    unsafe UInt32(bigEndian: source.loadUnaligned(as: UInt32.self))
}

extension UInt32 {
    /// Rotates to the left by a constant 1…31.
    @inline(__always)
    func rotatedLeft(_ count: UInt32) -> UInt32 { (self &<< count) | (self &>> (32 &- count)) }

    /// Rotates to the right by a constant 1…31.
    @inline(__always)
    func rotatedRight(_ count: UInt32) -> UInt32 { (self &>> count) | (self &<< (32 &- count)) }
}
