/// GCM's work on batches of eight blocks in portable code: encryption and authentication one after the other.
enum PortableGCM {
    /// Bytes that ``prepare(_:_:)`` writes.
    static let tableByteCount = PortableGHASH.tableByteCount

    /// Batches encrypted before they are authenticated, few enough to stay in the fastest cache.
    private static let pieceBatchCount = 8

    /// Writes what ``authenticate(_:blockCount:_:_:)`` needs to know of the hash key.
    static func prepare(_ hashKey: Block128, _ table: UnsafeMutableRawPointer) {
        unsafe PortableGHASH.prepare(hashKey, table)
    }

    /// Takes blocks into GHASH's state.
    static func authenticate(
        _ input: UnsafeRawPointer, blockCount: Int, _ state: inout Block128, _ table: UnsafeRawPointer
    ) {
        unsafe PortableGHASH.update(&state, input, blockCount: blockCount, table)
    }

    /// Encrypts batches and takes the ciphertext into GHASH's state.
    static func seal(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, _ batchCount: Int,
        _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
        _ table: UnsafeRawPointer
    ) {
        for first in stride(from: 0, to: batchCount, by: pieceBatchCount) {
            let count = 8 * min(pieceBatchCount, batchCount - first)
            let target = unsafe output + 128 * first
            unsafe PortableAES.applyCounter(
                input + 128 * first, target, blockCount: count, &counter, schedule)
            unsafe PortableGHASH.update(&state, target, blockCount: count, table)
        }
    }

    /// Takes the ciphertext into GHASH's state and decrypts it.
    static func open(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, _ batchCount: Int,
        _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
        _ table: UnsafeRawPointer
    ) {
        for first in stride(from: 0, to: batchCount, by: pieceBatchCount) {
            let count = 8 * min(pieceBatchCount, batchCount - first)
            let source = unsafe input + 128 * first
            unsafe PortableGHASH.update(&state, source, blockCount: count, table)
            unsafe PortableAES.applyCounter(
                source, output + 128 * first, blockCount: count, &counter, schedule)
        }
    }

    /// Ends the opening of a text: takes its last blocks, at most eight, and the one of lengths that follows them into GHASH's
    /// state, decrypts the blocks in place, and adds the encrypted pre-counter, which makes the state the tag.
    static func openTail(
        _ blocks: UnsafeMutableRawPointer, _ blockCount: Int, _ counter: Block128, _ preCounter: Block128,
        _ state: inout Block128, _ schedule: borrowing KeySchedule, _ table: UnsafeRawPointer
    ) {
        unsafe PortableGHASH.update(&state, blocks, blockCount: blockCount + 1, table)
        var counter = counter
        unsafe PortableAES.applyCounter(blocks, blocks, blockCount: blockCount, &counter, schedule)
        state = state ^ PortableAES.encrypt(preCounter, schedule)
    }
}

// MARK: - PortableGHASH

/// GHASH (NIST SP 800-38D, section 6.4) in portable constant-time code.
///
/// The field's elements are polynomials over GF(2), multiplied by integer multiplications whose operands keep every
/// fourth bit only, so that carries end in the holes and can be masked away: T. Pornin's method, described at
/// bearssl.org/constanttime.html. Integer multiplication takes the same time for all operands on every 64-bit
/// processor that this package runs on.
///
/// Up to four blocks are multiplied by the powers H⁴…H¹ and summed before the sum is masked and reduced, once.
enum PortableGHASH {
    /// How many powers of the hash key ``prepare(_:_:)`` writes.
    private static let powerCount = 4
    /// Bytes that ``prepare(_:_:)`` writes.
    static let tableByteCount = powerCount * MemoryLayout<HashKeyPower>.stride

    /// Writes the table of the hash key's powers, the highest first.
    static func prepare(_ hashKey: Block128, _ table: UnsafeMutableRawPointer) {
        let powers = unsafe table.assumingMemoryBound(to: HashKeyPower.self)
        var power = hashKey
        for index in (0..<powerCount).reversed() {
            unsafe powers[index] = HashKeyPower(power)
            var next = Block128.zero
            unsafe withUnsafeBytes(of: power) { power in
                unsafe absorb(power.baseAddress!, blockCount: 1, into: &next, powers + powerCount - 1)
            }
            power = next
        }
        wipe(&power)
    }

    /// Takes `blockCount` blocks into `state`.
    static func update(
        _ state: inout Block128, _ input: UnsafeRawPointer, blockCount: Int, _ table: UnsafeRawPointer
    ) {
        let powers = unsafe table.assumingMemoryBound(to: HashKeyPower.self)
        for first in stride(from: 0, to: blockCount, by: powerCount) {
            let count = min(powerCount, blockCount - first)
            unsafe absorb(
                input + 16 * first, blockCount: count, into: &state, powers + powerCount - count)
        }
    }

    /// Takes at most four blocks into `state`; `powers` starts with the power of the first of them.
    @inline(__always)
    private static func absorb(
        _ input: UnsafeRawPointer, blockCount: Int, into state: inout Block128,
        _ powers: UnsafePointer<HashKeyPower>
    ) {
        var sum = UnreducedProduct()
        for index in 0..<blockCount {
            let block = unsafe state ^ Block128(loading: input + 16 * index)
            unsafe sum.add(block, times: powers + index)
            state = .zero
        }
        state = sum.reduced()
    }
}

/// A power of the hash key as the multiplication wants it: both halves and their sum, and the three bit-reversed,
/// because the upper half of a product is the lower half of the reversed operands' product.
private struct HashKeyPower: BitwiseCopyable {
    let low: Strands, high: Strands, sum: Strands
    let lowReversed: Strands, highReversed: Strands, sumReversed: Strands

    init(_ power: Block128) {
        let (p0, p1) = (UInt64(bigEndian: power.second), UInt64(bigEndian: power.first))
        low = Strands(p0)
        high = Strands(p1)
        sum = Strands(p0 ^ p1)
        lowReversed = Strands(p0.bitReversed)
        highReversed = Strands(p1.bitReversed)
        sumReversed = Strands(p0.bitReversed ^ p1.bitReversed)
    }
}

/// A word taken apart into four that keep every fourth bit, or the sum of such words' products.
private struct Strands: BitwiseCopyable {
    var s0: UInt64, s1: UInt64, s2: UInt64, s3: UInt64

    @inline(__always)
    init(_ word: UInt64) {
        s0 = word & 0x1111_1111_1111_1111
        s1 = word & 0x2222_2222_2222_2222
        s2 = word & 0x4444_4444_4444_4444
        s3 = word & 0x8888_8888_8888_8888
    }

    /// Adds the lower 64 bits of a carry-less product, with rubbish in the holes.
    @inline(__always)
    mutating func add(_ word: UInt64, times y: Strands) {
        let x = Strands(word)
        s0 ^= (x.s0 &* y.s0) ^ (x.s1 &* y.s3) ^ (x.s2 &* y.s2) ^ (x.s3 &* y.s1)
        s1 ^= (x.s0 &* y.s1) ^ (x.s1 &* y.s0) ^ (x.s2 &* y.s3) ^ (x.s3 &* y.s2)
        s2 ^= (x.s0 &* y.s2) ^ (x.s1 &* y.s1) ^ (x.s2 &* y.s0) ^ (x.s3 &* y.s3)
        s3 ^= (x.s0 &* y.s3) ^ (x.s1 &* y.s2) ^ (x.s2 &* y.s1) ^ (x.s3 &* y.s0)
    }

    /// The word put together again, without what stands in the holes.
    @inline(__always)
    var word: UInt64 {
        (s0 & 0x1111_1111_1111_1111) | (s1 & 0x2222_2222_2222_2222)
            | (s2 & 0x4444_4444_4444_4444) | (s3 & 0x8888_8888_8888_8888)
    }
}

/// A sum of 255-bit products in Karatsuba's three parts, each in its lower and its reversed upper half.
private struct UnreducedProduct {
    private var low = Strands(0), high = Strands(0), middle = Strands(0)
    private var lowReversed = Strands(0), highReversed = Strands(0), middleReversed = Strands(0)

    @inline(__always)
    mutating func add(_ block: Block128, times power: UnsafePointer<HashKeyPower>) {
        let (y0, y1) = (UInt64(bigEndian: block.second), UInt64(bigEndian: block.first))
        let (y0r, y1r) = (y0.bitReversed, y1.bitReversed)
        unsafe low.add(y0, times: power.pointee.low)
        unsafe high.add(y1, times: power.pointee.high)
        unsafe middle.add(y0 ^ y1, times: power.pointee.sum)
        unsafe lowReversed.add(y0r, times: power.pointee.lowReversed)
        unsafe highReversed.add(y1r, times: power.pointee.highReversed)
        unsafe middleReversed.add(y0r ^ y1r, times: power.pointee.sumReversed)
    }

    /// The sum modulo x¹²⁸ + x⁷ + x² + x + 1 in GHASH's reflected bit order.
    @inline(__always)
    func reduced() -> Block128 {
        let (z0, z1) = (low.word, high.word)
        let (z0r, z1r) = (lowReversed.word, highReversed.word)
        let z2 = middle.word ^ z0 ^ z1
        let z2r = middleReversed.word ^ z0r ^ z1r
        let w0 = z0
        let w1 = z2 ^ (z0r.bitReversed >> 1)
        let w2 = z1 ^ (z2r.bitReversed >> 1)
        let w3 = z1r.bitReversed >> 1
        // Reflected operands give a product shifted by one bit.
        let v0 = w0 << 1
        var v1 = (w1 << 1) | (w0 >> 63)
        var v2 = (w2 << 1) | (w1 >> 63)
        var v3 = (w3 << 1) | (w2 >> 63)
        v2 ^= v0 ^ (v0 >> 1) ^ (v0 >> 2) ^ (v0 >> 7)
        v1 ^= (v0 << 63) ^ (v0 << 62) ^ (v0 << 57)
        v3 ^= v1 ^ (v1 >> 1) ^ (v1 >> 2) ^ (v1 >> 7)
        v2 ^= (v1 << 63) ^ (v1 << 62) ^ (v1 << 57)
        return Block128(bigEndian: v3, v2)
    }
}

extension UInt64 {
    /// The bits in reverse order.
    @inline(__always)
    fileprivate var bitReversed: UInt64 {
        var r = ((self & 0x5555_5555_5555_5555) << 1) | ((self >> 1) & 0x5555_5555_5555_5555)
        r = ((r & 0x3333_3333_3333_3333) << 2) | ((r >> 2) & 0x3333_3333_3333_3333)
        r = ((r & 0x0F0F_0F0F_0F0F_0F0F) << 4) | ((r >> 4) & 0x0F0F_0F0F_0F0F_0F0F)
        return r.byteSwapped
    }
}
