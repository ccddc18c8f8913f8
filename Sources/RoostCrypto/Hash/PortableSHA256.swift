/// SHA-256's compression function in portable code (FIPS 180-4, section 6.2.2).
enum PortableSHA256 {
    /// K₀…K₆₃.
    static let roundConstants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585,
        0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
        0xc671_78f2,
    ]

    /// Takes `blockCount` blocks of 64 bytes into the chaining value.
    static func compress(_ state: inout SIMD8<UInt32>, _ blocks: UnsafeRawPointer, blockCount: Int) {
        var words = state
        unsafe roundConstants.withUnsafeBufferPointer { constants in
            for index in 0..<blockCount {
                unsafe compress(&words, blocks + 64 * index, constants.baseAddress!)
            }
        }
        state = words
    }

    /// One block.
    ///
    /// The sixteen words of the message schedule are variables, and the rounds are written out, so that no word is
    /// moved from one variable to another. `bc` saves an operation: a round's `a ^ b` is the next one's `b ^ c`.
    @inline(__always)
    private static func compress(
        _ state: inout SIMD8<UInt32>, _ block: UnsafeRawPointer, _ k: UnsafePointer<UInt32>
    ) {
        var (w0, w1) = unsafe (loadBigEndian(block + 0), loadBigEndian(block + 4))
        var (w2, w3) = unsafe (loadBigEndian(block + 8), loadBigEndian(block + 12))
        var (w4, w5) = unsafe (loadBigEndian(block + 16), loadBigEndian(block + 20))
        var (w6, w7) = unsafe (loadBigEndian(block + 24), loadBigEndian(block + 28))
        var (w8, w9) = unsafe (loadBigEndian(block + 32), loadBigEndian(block + 36))
        var (w10, w11) = unsafe (loadBigEndian(block + 40), loadBigEndian(block + 44))
        var (w12, w13) = unsafe (loadBigEndian(block + 48), loadBigEndian(block + 52))
        var (w14, w15) = unsafe (loadBigEndian(block + 56), loadBigEndian(block + 60))
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var bc = b ^ c
        unsafe round(a, b, &bc, &d, e, f, g, &h, w0 &+ k[0])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w1 &+ k[1])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w2 &+ k[2])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w3 &+ k[3])
        unsafe round(e, f, &bc, &h, a, b, c, &d, w4 &+ k[4])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w5 &+ k[5])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w6 &+ k[6])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w7 &+ k[7])
        unsafe round(a, b, &bc, &d, e, f, g, &h, w8 &+ k[8])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w9 &+ k[9])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w10 &+ k[10])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w11 &+ k[11])
        unsafe round(e, f, &bc, &h, a, b, c, &d, w12 &+ k[12])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w13 &+ k[13])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w14 &+ k[14])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w15 &+ k[15])

        w0 &+= smallSigma1(w14) &+ w9 &+ smallSigma0(w1)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w0 &+ k[16])
        w1 &+= smallSigma1(w15) &+ w10 &+ smallSigma0(w2)
        unsafe round(h, a, &bc, &c, d, e, f, &g, w1 &+ k[17])
        w2 &+= smallSigma1(w0) &+ w11 &+ smallSigma0(w3)
        unsafe round(g, h, &bc, &b, c, d, e, &f, w2 &+ k[18])
        w3 &+= smallSigma1(w1) &+ w12 &+ smallSigma0(w4)
        unsafe round(f, g, &bc, &a, b, c, d, &e, w3 &+ k[19])
        w4 &+= smallSigma1(w2) &+ w13 &+ smallSigma0(w5)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w4 &+ k[20])
        w5 &+= smallSigma1(w3) &+ w14 &+ smallSigma0(w6)
        unsafe round(d, e, &bc, &g, h, a, b, &c, w5 &+ k[21])
        w6 &+= smallSigma1(w4) &+ w15 &+ smallSigma0(w7)
        unsafe round(c, d, &bc, &f, g, h, a, &b, w6 &+ k[22])
        w7 &+= smallSigma1(w5) &+ w0 &+ smallSigma0(w8)
        unsafe round(b, c, &bc, &e, f, g, h, &a, w7 &+ k[23])
        w8 &+= smallSigma1(w6) &+ w1 &+ smallSigma0(w9)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w8 &+ k[24])
        w9 &+= smallSigma1(w7) &+ w2 &+ smallSigma0(w10)
        unsafe round(h, a, &bc, &c, d, e, f, &g, w9 &+ k[25])
        w10 &+= smallSigma1(w8) &+ w3 &+ smallSigma0(w11)
        unsafe round(g, h, &bc, &b, c, d, e, &f, w10 &+ k[26])
        w11 &+= smallSigma1(w9) &+ w4 &+ smallSigma0(w12)
        unsafe round(f, g, &bc, &a, b, c, d, &e, w11 &+ k[27])
        w12 &+= smallSigma1(w10) &+ w5 &+ smallSigma0(w13)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w12 &+ k[28])
        w13 &+= smallSigma1(w11) &+ w6 &+ smallSigma0(w14)
        unsafe round(d, e, &bc, &g, h, a, b, &c, w13 &+ k[29])
        w14 &+= smallSigma1(w12) &+ w7 &+ smallSigma0(w15)
        unsafe round(c, d, &bc, &f, g, h, a, &b, w14 &+ k[30])
        w15 &+= smallSigma1(w13) &+ w8 &+ smallSigma0(w0)
        unsafe round(b, c, &bc, &e, f, g, h, &a, w15 &+ k[31])

        w0 &+= smallSigma1(w14) &+ w9 &+ smallSigma0(w1)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w0 &+ k[32])
        w1 &+= smallSigma1(w15) &+ w10 &+ smallSigma0(w2)
        unsafe round(h, a, &bc, &c, d, e, f, &g, w1 &+ k[33])
        w2 &+= smallSigma1(w0) &+ w11 &+ smallSigma0(w3)
        unsafe round(g, h, &bc, &b, c, d, e, &f, w2 &+ k[34])
        w3 &+= smallSigma1(w1) &+ w12 &+ smallSigma0(w4)
        unsafe round(f, g, &bc, &a, b, c, d, &e, w3 &+ k[35])
        w4 &+= smallSigma1(w2) &+ w13 &+ smallSigma0(w5)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w4 &+ k[36])
        w5 &+= smallSigma1(w3) &+ w14 &+ smallSigma0(w6)
        unsafe round(d, e, &bc, &g, h, a, b, &c, w5 &+ k[37])
        w6 &+= smallSigma1(w4) &+ w15 &+ smallSigma0(w7)
        unsafe round(c, d, &bc, &f, g, h, a, &b, w6 &+ k[38])
        w7 &+= smallSigma1(w5) &+ w0 &+ smallSigma0(w8)
        unsafe round(b, c, &bc, &e, f, g, h, &a, w7 &+ k[39])
        w8 &+= smallSigma1(w6) &+ w1 &+ smallSigma0(w9)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w8 &+ k[40])
        w9 &+= smallSigma1(w7) &+ w2 &+ smallSigma0(w10)
        unsafe round(h, a, &bc, &c, d, e, f, &g, w9 &+ k[41])
        w10 &+= smallSigma1(w8) &+ w3 &+ smallSigma0(w11)
        unsafe round(g, h, &bc, &b, c, d, e, &f, w10 &+ k[42])
        w11 &+= smallSigma1(w9) &+ w4 &+ smallSigma0(w12)
        unsafe round(f, g, &bc, &a, b, c, d, &e, w11 &+ k[43])
        w12 &+= smallSigma1(w10) &+ w5 &+ smallSigma0(w13)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w12 &+ k[44])
        w13 &+= smallSigma1(w11) &+ w6 &+ smallSigma0(w14)
        unsafe round(d, e, &bc, &g, h, a, b, &c, w13 &+ k[45])
        w14 &+= smallSigma1(w12) &+ w7 &+ smallSigma0(w15)
        unsafe round(c, d, &bc, &f, g, h, a, &b, w14 &+ k[46])
        w15 &+= smallSigma1(w13) &+ w8 &+ smallSigma0(w0)
        unsafe round(b, c, &bc, &e, f, g, h, &a, w15 &+ k[47])

        w0 &+= smallSigma1(w14) &+ w9 &+ smallSigma0(w1)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w0 &+ k[48])
        w1 &+= smallSigma1(w15) &+ w10 &+ smallSigma0(w2)
        unsafe round(h, a, &bc, &c, d, e, f, &g, w1 &+ k[49])
        w2 &+= smallSigma1(w0) &+ w11 &+ smallSigma0(w3)
        unsafe round(g, h, &bc, &b, c, d, e, &f, w2 &+ k[50])
        w3 &+= smallSigma1(w1) &+ w12 &+ smallSigma0(w4)
        unsafe round(f, g, &bc, &a, b, c, d, &e, w3 &+ k[51])
        w4 &+= smallSigma1(w2) &+ w13 &+ smallSigma0(w5)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w4 &+ k[52])
        w5 &+= smallSigma1(w3) &+ w14 &+ smallSigma0(w6)
        unsafe round(d, e, &bc, &g, h, a, b, &c, w5 &+ k[53])
        w6 &+= smallSigma1(w4) &+ w15 &+ smallSigma0(w7)
        unsafe round(c, d, &bc, &f, g, h, a, &b, w6 &+ k[54])
        w7 &+= smallSigma1(w5) &+ w0 &+ smallSigma0(w8)
        unsafe round(b, c, &bc, &e, f, g, h, &a, w7 &+ k[55])
        w8 &+= smallSigma1(w6) &+ w1 &+ smallSigma0(w9)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w8 &+ k[56])
        w9 &+= smallSigma1(w7) &+ w2 &+ smallSigma0(w10)
        unsafe round(h, a, &bc, &c, d, e, f, &g, w9 &+ k[57])
        w10 &+= smallSigma1(w8) &+ w3 &+ smallSigma0(w11)
        unsafe round(g, h, &bc, &b, c, d, e, &f, w10 &+ k[58])
        w11 &+= smallSigma1(w9) &+ w4 &+ smallSigma0(w12)
        unsafe round(f, g, &bc, &a, b, c, d, &e, w11 &+ k[59])
        w12 &+= smallSigma1(w10) &+ w5 &+ smallSigma0(w13)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w12 &+ k[60])
        w13 &+= smallSigma1(w11) &+ w6 &+ smallSigma0(w14)
        unsafe round(d, e, &bc, &g, h, a, b, &c, w13 &+ k[61])
        w14 &+= smallSigma1(w12) &+ w7 &+ smallSigma0(w15)
        unsafe round(c, d, &bc, &f, g, h, a, &b, w14 &+ k[62])
        w15 &+= smallSigma1(w13) &+ w8 &+ smallSigma0(w0)
        unsafe round(b, c, &bc, &e, f, g, h, &a, w15 &+ k[63])
        state &+= SIMD8(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ bc: inout UInt32, _ d: inout UInt32,
        _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ input: UInt32
    ) {
        let bigSigma1 = e.rotatedRight(6) ^ e.rotatedRight(11) ^ e.rotatedRight(25)
        let choice = ((f ^ g) & e) ^ g
        h &+= input &+ bigSigma1 &+ choice
        d &+= h
        let bigSigma0 = a.rotatedRight(2) ^ a.rotatedRight(13) ^ a.rotatedRight(22)
        let ab = a ^ b
        let majority = (ab & bc) ^ b
        bc = ab
        h &+= bigSigma0 &+ majority
    }

    @inline(__always)
    private static func smallSigma0(_ x: UInt32) -> UInt32 {
        x.rotatedRight(7) ^ x.rotatedRight(18) ^ (x &>> 3)
    }

    @inline(__always)
    private static func smallSigma1(_ x: UInt32) -> UInt32 {
        x.rotatedRight(17) ^ x.rotatedRight(19) ^ (x &>> 10)
    }
}
