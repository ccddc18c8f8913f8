/// MD5 (RFC 1321), only for digests that other systems exchange, such as CouchDB's attachments. It is broken: anyone
/// can make two inputs with the same digest.
package struct MD5: BlockHash {
    package static let digestByteCount = 16
    static let isBigEndian = false

    private var state = SIMD4<UInt32>(0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476)
    var pending = PendingBlock()

    /// Nothing hashed yet. No processor has instructions for MD5, so both paths are the same.
    package init(path: ExecutionPath) {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe absorb(bytes) }

    package consuming func finalize() -> Digest { finish() }

    package mutating func finalize(into output: UnsafeMutableRawPointer) { unsafe finish(into: output) }

    mutating func storeState(to target: UnsafeMutableRawPointer) {
        for index in 0..<4 {
            unsafe target.storeBytes(of: state[index].littleEndian, toByteOffset: 4 * index, as: UInt32.self)
        }
    }

    mutating func compress(_ blocks: UnsafeRawPointer, blockCount: Int) {
        var words = state
        for index in 0..<blockCount {
            unsafe Self.compress(&words, blocks + 64 * index)
        }
        state = words
    }
}

extension MD5 {
    /// One block: four passes of sixteen operations, which the standard calls rounds.
    @inline(__always)
    private static func compress(_ state: inout SIMD4<UInt32>, _ block: UnsafeRawPointer) {
        let x = unsafe MessageWords(start: block)
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])

        unsafe f(&a, b, c, d, x[0], 0xd76a_a478, 7)
        unsafe f(&d, a, b, c, x[1], 0xe8c7_b756, 12)
        unsafe f(&c, d, a, b, x[2], 0x2420_70db, 17)
        unsafe f(&b, c, d, a, x[3], 0xc1bd_ceee, 22)
        unsafe f(&a, b, c, d, x[4], 0xf57c_0faf, 7)
        unsafe f(&d, a, b, c, x[5], 0x4787_c62a, 12)
        unsafe f(&c, d, a, b, x[6], 0xa830_4613, 17)
        unsafe f(&b, c, d, a, x[7], 0xfd46_9501, 22)
        unsafe f(&a, b, c, d, x[8], 0x6980_98d8, 7)
        unsafe f(&d, a, b, c, x[9], 0x8b44_f7af, 12)
        unsafe f(&c, d, a, b, x[10], 0xffff_5bb1, 17)
        unsafe f(&b, c, d, a, x[11], 0x895c_d7be, 22)
        unsafe f(&a, b, c, d, x[12], 0x6b90_1122, 7)
        unsafe f(&d, a, b, c, x[13], 0xfd98_7193, 12)
        unsafe f(&c, d, a, b, x[14], 0xa679_438e, 17)
        unsafe f(&b, c, d, a, x[15], 0x49b4_0821, 22)

        unsafe g(&a, b, c, d, x[1], 0xf61e_2562, 5)
        unsafe g(&d, a, b, c, x[6], 0xc040_b340, 9)
        unsafe g(&c, d, a, b, x[11], 0x265e_5a51, 14)
        unsafe g(&b, c, d, a, x[0], 0xe9b6_c7aa, 20)
        unsafe g(&a, b, c, d, x[5], 0xd62f_105d, 5)
        unsafe g(&d, a, b, c, x[10], 0x0244_1453, 9)
        unsafe g(&c, d, a, b, x[15], 0xd8a1_e681, 14)
        unsafe g(&b, c, d, a, x[4], 0xe7d3_fbc8, 20)
        unsafe g(&a, b, c, d, x[9], 0x21e1_cde6, 5)
        unsafe g(&d, a, b, c, x[14], 0xc337_07d6, 9)
        unsafe g(&c, d, a, b, x[3], 0xf4d5_0d87, 14)
        unsafe g(&b, c, d, a, x[8], 0x455a_14ed, 20)
        unsafe g(&a, b, c, d, x[13], 0xa9e3_e905, 5)
        unsafe g(&d, a, b, c, x[2], 0xfcef_a3f8, 9)
        unsafe g(&c, d, a, b, x[7], 0x676f_02d9, 14)
        unsafe g(&b, c, d, a, x[12], 0x8d2a_4c8a, 20)

        unsafe h(&a, b, c, d, x[5], 0xfffa_3942, 4)
        unsafe h(&d, a, b, c, x[8], 0x8771_f681, 11)
        unsafe h(&c, d, a, b, x[11], 0x6d9d_6122, 16)
        unsafe h(&b, c, d, a, x[14], 0xfde5_380c, 23)
        unsafe h(&a, b, c, d, x[1], 0xa4be_ea44, 4)
        unsafe h(&d, a, b, c, x[4], 0x4bde_cfa9, 11)
        unsafe h(&c, d, a, b, x[7], 0xf6bb_4b60, 16)
        unsafe h(&b, c, d, a, x[10], 0xbebf_bc70, 23)
        unsafe h(&a, b, c, d, x[13], 0x289b_7ec6, 4)
        unsafe h(&d, a, b, c, x[0], 0xeaa1_27fa, 11)
        unsafe h(&c, d, a, b, x[3], 0xd4ef_3085, 16)
        unsafe h(&b, c, d, a, x[6], 0x0488_1d05, 23)
        unsafe h(&a, b, c, d, x[9], 0xd9d4_d039, 4)
        unsafe h(&d, a, b, c, x[12], 0xe6db_99e5, 11)
        unsafe h(&c, d, a, b, x[15], 0x1fa2_7cf8, 16)
        unsafe h(&b, c, d, a, x[2], 0xc4ac_5665, 23)

        unsafe i(&a, b, c, d, x[0], 0xf429_2244, 6)
        unsafe i(&d, a, b, c, x[7], 0x432a_ff97, 10)
        unsafe i(&c, d, a, b, x[14], 0xab94_23a7, 15)
        unsafe i(&b, c, d, a, x[5], 0xfc93_a039, 21)
        unsafe i(&a, b, c, d, x[12], 0x655b_59c3, 6)
        unsafe i(&d, a, b, c, x[3], 0x8f0c_cc92, 10)
        unsafe i(&c, d, a, b, x[10], 0xffef_f47d, 15)
        unsafe i(&b, c, d, a, x[1], 0x8584_5dd1, 21)
        unsafe i(&a, b, c, d, x[8], 0x6fa8_7e4f, 6)
        unsafe i(&d, a, b, c, x[15], 0xfe2c_e6e0, 10)
        unsafe i(&c, d, a, b, x[6], 0xa301_4314, 15)
        unsafe i(&b, c, d, a, x[13], 0x4e08_11a1, 21)
        unsafe i(&a, b, c, d, x[4], 0xf753_7e82, 6)
        unsafe i(&d, a, b, c, x[11], 0xbd3a_f235, 10)
        unsafe i(&c, d, a, b, x[2], 0x2ad7_d2bb, 15)
        unsafe i(&b, c, d, a, x[9], 0xeb86_d391, 21)

        state &+= SIMD4(a, b, c, d)
    }

    /// The sixteen little-endian words of a block.
    @unsafe private struct MessageWords {
        let start: UnsafeRawPointer

        @inline(__always)
        subscript(index: Int) -> UInt32 {
            unsafe UInt32(littleEndian: (start + 4 * index).loadUnaligned(as: UInt32.self))
        }
    }

    @inline(__always)
    private static func f(
        _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ word: UInt32, _ constant: UInt32,
        _ turn: UInt32
    ) {
        a = b &+ ((a &+ word &+ constant) &+ (((c ^ d) & b) ^ d)).rotatedLeft(turn)
    }

    @inline(__always)
    private static func g(
        _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ word: UInt32, _ constant: UInt32,
        _ turn: UInt32
    ) {
        // The two halves share no bit, so their sum is their union; only one of them waits for `b`.
        a = b &+ ((a &+ word &+ constant &+ (c & ~d)) &+ (b & d)).rotatedLeft(turn)
    }

    @inline(__always)
    private static func h(
        _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ word: UInt32, _ constant: UInt32,
        _ turn: UInt32
    ) {
        a = b &+ ((a &+ word &+ constant) &+ (b ^ (c ^ d))).rotatedLeft(turn)
    }

    @inline(__always)
    private static func i(
        _ a: inout UInt32, _ b: UInt32, _ c: UInt32, _ d: UInt32, _ word: UInt32, _ constant: UInt32,
        _ turn: UInt32
    ) {
        a = b &+ ((a &+ word &+ constant) &+ (c ^ (b | ~d))).rotatedLeft(turn)
    }
}
