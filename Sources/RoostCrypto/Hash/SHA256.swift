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

// MARK: - PortableSHA256

/// SHA-256's compression function in portable code (FIPS 180-4, section 6.2.2).
///
/// The message schedule is computed four words at a time in vectors, sixteen words ahead of the rounds, as S. Gulley and
/// others ("Fast SHA-256 Implementations on Intel Architecture Processors", 2012) describe: it leaves the integer units to
/// the rounds.
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
        unsafe roundConstants.withUnsafeBytes { constants in
            unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: roundConstants.count) { memory in
                let words = unsafe Words(start: memory.baseAddress!, constants: constants.baseAddress!)
                for index in 0..<blockCount {
                    unsafe compress(&state, blocks + 64 * index, words)
                }
                unsafe wipe(UnsafeMutableRawBufferPointer(memory))
            }
        }
    }

    /// Words of the message schedule with the constants of their rounds already added.
    @unsafe private struct Words {
        let start: UnsafeMutablePointer<UInt32>
        let constants: UnsafeRawPointer

        @inline(__always)
        subscript(round: Int) -> UInt32 { unsafe start[round] }

        @inline(__always)
        func put(_ round: Int, _ words: ScheduleVector) {
            let constants = unsafe (constants + 4 * round).loadUnaligned(as: SIMD4<UInt32>.self)
            unsafe (words &+ ScheduleVector(constants)).store(to: start + round)
        }
    }

    /// One block. The rounds are written out, so that no word is moved from one variable to another. `bc` saves an
    /// operation: a round's `a ^ b` is the next one's `b ^ c`.
    private static func compress(_ state: inout SIMD8<UInt32>, _ block: UnsafeRawPointer, _ w: Words) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var bc = b ^ c
        let v0 = unsafe ScheduleVector(bigEndian: block + 0)
        unsafe w.put(0, v0)
        let v1 = unsafe ScheduleVector(bigEndian: block + 16)
        unsafe w.put(4, v1)
        let v2 = unsafe ScheduleVector(bigEndian: block + 32)
        unsafe w.put(8, v2)
        let v3 = unsafe ScheduleVector(bigEndian: block + 48)
        unsafe w.put(12, v3)

        // Rounds 0 to 15.
        let v4 = next(v0, v1, v2, v3)
        unsafe w.put(16, v4)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[0])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[1])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[2])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[3])
        let v5 = next(v1, v2, v3, v4)
        unsafe w.put(20, v5)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[4])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[5])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[6])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[7])
        let v6 = next(v2, v3, v4, v5)
        unsafe w.put(24, v6)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[8])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[9])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[10])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[11])
        let v7 = next(v3, v4, v5, v6)
        unsafe w.put(28, v7)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[12])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[13])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[14])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[15])

        // Rounds 16 to 31.
        let v8 = next(v4, v5, v6, v7)
        unsafe w.put(32, v8)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[16])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[17])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[18])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[19])
        let v9 = next(v5, v6, v7, v8)
        unsafe w.put(36, v9)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[20])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[21])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[22])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[23])
        let v10 = next(v6, v7, v8, v9)
        unsafe w.put(40, v10)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[24])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[25])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[26])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[27])
        let v11 = next(v7, v8, v9, v10)
        unsafe w.put(44, v11)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[28])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[29])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[30])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[31])

        // Rounds 32 to 47.
        let v12 = next(v8, v9, v10, v11)
        unsafe w.put(48, v12)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[32])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[33])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[34])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[35])
        let v13 = next(v9, v10, v11, v12)
        unsafe w.put(52, v13)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[36])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[37])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[38])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[39])
        let v14 = next(v10, v11, v12, v13)
        unsafe w.put(56, v14)
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[40])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[41])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[42])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[43])
        let v15 = next(v11, v12, v13, v14)
        unsafe w.put(60, v15)
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[44])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[45])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[46])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[47])

        // Rounds 48 to 63.
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[48])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[49])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[50])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[51])
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[52])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[53])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[54])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[55])
        unsafe round(a, b, &bc, &d, e, f, g, &h, w[56])
        unsafe round(h, a, &bc, &c, d, e, f, &g, w[57])
        unsafe round(g, h, &bc, &b, c, d, e, &f, w[58])
        unsafe round(f, g, &bc, &a, b, c, d, &e, w[59])
        unsafe round(e, f, &bc, &h, a, b, c, &d, w[60])
        unsafe round(d, e, &bc, &g, h, a, b, &c, w[61])
        unsafe round(c, d, &bc, &f, g, h, a, &b, w[62])
        unsafe round(b, c, &bc, &e, f, g, h, &a, w[63])

        state &+= SIMD8(a, b, c, d, e, f, g, h)
    }

    /// The next four words of the message schedule after the sixteen that begin with `v16`: Wₜ = σ₁(Wₜ₋₂) + Wₜ₋₇ +
    /// σ₀(Wₜ₋₁₅) + Wₜ₋₁₆. The third and fourth word need the first and second, which is added to them afterwards.
    @inline(__always)
    private static func next(
        _ v16: ScheduleVector, _ v12: ScheduleVector, _ v8: ScheduleVector, _ v4: ScheduleVector
    ) -> ScheduleVector {
        let zero = ScheduleVector(repeating: 0)
        let sum = v16 &+ smallSigma0(.fromSecond(v16, v12)) &+ .fromSecond(v8, v4)
        let half = sum &+ smallSigma1(.fromThird(v4, zero))
        return half &+ smallSigma1(.fromThird(zero, half))
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
    private static func smallSigma0(_ x: ScheduleVector) -> ScheduleVector {
        x.rotatedLeft(25) ^ x.rotatedLeft(14) ^ x.shiftedRight(3)
    }

    @inline(__always)
    private static func smallSigma1(_ x: ScheduleVector) -> ScheduleVector {
        x.rotatedLeft(15) ^ x.rotatedLeft(13) ^ x.shiftedRight(10)
    }
}
