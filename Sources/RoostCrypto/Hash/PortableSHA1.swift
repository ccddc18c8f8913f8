/// SHA-1's compression function in portable code (FIPS 180-4, section 6.1.2).
enum PortableSHA1 {
    /// Takes `blockCount` blocks of 64 bytes into the chaining value.
    static func compress(_ state: inout SIMD8<UInt32>, _ blocks: UnsafeRawPointer, blockCount: Int) {
        var words = state
        for index in 0..<blockCount {
            unsafe compress(&words, blocks + 64 * index)
        }
        state = words
    }

    /// One block. The sixteen words of the message schedule are variables so that they can stay in registers.
    @inline(__always)
    private static func compress(_ state: inout SIMD8<UInt32>, _ block: UnsafeRawPointer) {
        var (w0, w1) = unsafe (loadBigEndian(block + 0), loadBigEndian(block + 4))
        var (w2, w3) = unsafe (loadBigEndian(block + 8), loadBigEndian(block + 12))
        var (w4, w5) = unsafe (loadBigEndian(block + 16), loadBigEndian(block + 20))
        var (w6, w7) = unsafe (loadBigEndian(block + 24), loadBigEndian(block + 28))
        var (w8, w9) = unsafe (loadBigEndian(block + 32), loadBigEndian(block + 36))
        var (w10, w11) = unsafe (loadBigEndian(block + 40), loadBigEndian(block + 44))
        var (w12, w13) = unsafe (loadBigEndian(block + 48), loadBigEndian(block + 52))
        var (w14, w15) = unsafe (loadBigEndian(block + 56), loadBigEndian(block + 60))
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])

        // Rounds 0 to 19.
        choice(a, &b, c, d, &e, w0)
        choice(e, &a, b, c, &d, w1)
        choice(d, &e, a, b, &c, w2)
        choice(c, &d, e, a, &b, w3)
        choice(b, &c, d, e, &a, w4)
        choice(a, &b, c, d, &e, w5)
        choice(e, &a, b, c, &d, w6)
        choice(d, &e, a, b, &c, w7)
        choice(c, &d, e, a, &b, w8)
        choice(b, &c, d, e, &a, w9)
        choice(a, &b, c, d, &e, w10)
        choice(e, &a, b, c, &d, w11)
        choice(d, &e, a, b, &c, w12)
        choice(c, &d, e, a, &b, w13)
        choice(b, &c, d, e, &a, w14)
        choice(a, &b, c, d, &e, w15)
        choice(e, &a, b, c, &d, next(&w0, w2, w8, w13))
        choice(d, &e, a, b, &c, next(&w1, w3, w9, w14))
        choice(c, &d, e, a, &b, next(&w2, w4, w10, w15))
        choice(b, &c, d, e, &a, next(&w3, w5, w11, w0))

        // Rounds 20 to 39.
        parity1(a, &b, c, d, &e, next(&w4, w6, w12, w1))
        parity1(e, &a, b, c, &d, next(&w5, w7, w13, w2))
        parity1(d, &e, a, b, &c, next(&w6, w8, w14, w3))
        parity1(c, &d, e, a, &b, next(&w7, w9, w15, w4))
        parity1(b, &c, d, e, &a, next(&w8, w10, w0, w5))
        parity1(a, &b, c, d, &e, next(&w9, w11, w1, w6))
        parity1(e, &a, b, c, &d, next(&w10, w12, w2, w7))
        parity1(d, &e, a, b, &c, next(&w11, w13, w3, w8))
        parity1(c, &d, e, a, &b, next(&w12, w14, w4, w9))
        parity1(b, &c, d, e, &a, next(&w13, w15, w5, w10))
        parity1(a, &b, c, d, &e, next(&w14, w0, w6, w11))
        parity1(e, &a, b, c, &d, next(&w15, w1, w7, w12))
        parity1(d, &e, a, b, &c, next(&w0, w2, w8, w13))
        parity1(c, &d, e, a, &b, next(&w1, w3, w9, w14))
        parity1(b, &c, d, e, &a, next(&w2, w4, w10, w15))
        parity1(a, &b, c, d, &e, next(&w3, w5, w11, w0))
        parity1(e, &a, b, c, &d, next(&w4, w6, w12, w1))
        parity1(d, &e, a, b, &c, next(&w5, w7, w13, w2))
        parity1(c, &d, e, a, &b, next(&w6, w8, w14, w3))
        parity1(b, &c, d, e, &a, next(&w7, w9, w15, w4))

        // Rounds 40 to 59.
        majority(a, &b, c, d, &e, next(&w8, w10, w0, w5))
        majority(e, &a, b, c, &d, next(&w9, w11, w1, w6))
        majority(d, &e, a, b, &c, next(&w10, w12, w2, w7))
        majority(c, &d, e, a, &b, next(&w11, w13, w3, w8))
        majority(b, &c, d, e, &a, next(&w12, w14, w4, w9))
        majority(a, &b, c, d, &e, next(&w13, w15, w5, w10))
        majority(e, &a, b, c, &d, next(&w14, w0, w6, w11))
        majority(d, &e, a, b, &c, next(&w15, w1, w7, w12))
        majority(c, &d, e, a, &b, next(&w0, w2, w8, w13))
        majority(b, &c, d, e, &a, next(&w1, w3, w9, w14))
        majority(a, &b, c, d, &e, next(&w2, w4, w10, w15))
        majority(e, &a, b, c, &d, next(&w3, w5, w11, w0))
        majority(d, &e, a, b, &c, next(&w4, w6, w12, w1))
        majority(c, &d, e, a, &b, next(&w5, w7, w13, w2))
        majority(b, &c, d, e, &a, next(&w6, w8, w14, w3))
        majority(a, &b, c, d, &e, next(&w7, w9, w15, w4))
        majority(e, &a, b, c, &d, next(&w8, w10, w0, w5))
        majority(d, &e, a, b, &c, next(&w9, w11, w1, w6))
        majority(c, &d, e, a, &b, next(&w10, w12, w2, w7))
        majority(b, &c, d, e, &a, next(&w11, w13, w3, w8))

        // Rounds 60 to 79.
        parity2(a, &b, c, d, &e, next(&w12, w14, w4, w9))
        parity2(e, &a, b, c, &d, next(&w13, w15, w5, w10))
        parity2(d, &e, a, b, &c, next(&w14, w0, w6, w11))
        parity2(c, &d, e, a, &b, next(&w15, w1, w7, w12))
        parity2(b, &c, d, e, &a, next(&w0, w2, w8, w13))
        parity2(a, &b, c, d, &e, next(&w1, w3, w9, w14))
        parity2(e, &a, b, c, &d, next(&w2, w4, w10, w15))
        parity2(d, &e, a, b, &c, next(&w3, w5, w11, w0))
        parity2(c, &d, e, a, &b, next(&w4, w6, w12, w1))
        parity2(b, &c, d, e, &a, next(&w5, w7, w13, w2))
        parity2(a, &b, c, d, &e, next(&w6, w8, w14, w3))
        parity2(e, &a, b, c, &d, next(&w7, w9, w15, w4))
        parity2(d, &e, a, b, &c, next(&w8, w10, w0, w5))
        parity2(c, &d, e, a, &b, next(&w9, w11, w1, w6))
        parity2(b, &c, d, e, &a, next(&w10, w12, w2, w7))
        parity2(a, &b, c, d, &e, next(&w11, w13, w3, w8))
        parity2(e, &a, b, c, &d, next(&w12, w14, w4, w9))
        parity2(d, &e, a, b, &c, next(&w13, w15, w5, w10))
        parity2(c, &d, e, a, &b, next(&w14, w0, w6, w11))
        parity2(b, &c, d, e, &a, next(&w15, w1, w7, w12))

        state &+= SIMD8(a, b, c, d, e, 0, 0, 0)
    }

    /// The message schedule's next word, in the place of the one sixteen before.
    @inline(__always)
    private static func next(_ word: inout UInt32, _ w14: UInt32, _ w8: UInt32, _ w3: UInt32) -> UInt32 {
        word = (word ^ w14 ^ w8 ^ w3).rotatedLeft(1)
        return word
    }

    @inline(__always)
    private static func choice(
        _ a: UInt32, _ b: inout UInt32, _ c: UInt32, _ d: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = (e &+ 0x5a82_7999 &+ word) &+ (((c ^ d) & b) ^ d) &+ a.rotatedLeft(5)
        b = b.rotatedLeft(30)
    }

    @inline(__always)
    private static func parity1(
        _ a: UInt32, _ b: inout UInt32, _ c: UInt32, _ d: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = (e &+ 0x6ed9_eba1 &+ word) &+ (b ^ c ^ d) &+ a.rotatedLeft(5)
        b = b.rotatedLeft(30)
    }

    @inline(__always)
    private static func majority(
        _ a: UInt32, _ b: inout UInt32, _ c: UInt32, _ d: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = (e &+ 0x8f1b_bcdc &+ word) &+ (b & c) &+ ((b ^ c) & d) &+ a.rotatedLeft(5)
        b = b.rotatedLeft(30)
    }

    @inline(__always)
    private static func parity2(
        _ a: UInt32, _ b: inout UInt32, _ c: UInt32, _ d: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = (e &+ 0xca62_c1d6 &+ word) &+ (b ^ c ^ d) &+ a.rotatedLeft(5)
        b = b.rotatedLeft(30)
    }
}
