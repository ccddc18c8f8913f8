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

// MARK: - PortableSHA1

/// SHA-1's compression function in portable code (FIPS 180-4, section 6.1.2).
///
/// The message schedule is computed four words at a time in vectors, sixteen words ahead of the rounds, as M. Locktyukhin
/// ("Improving the Performance of the Secure Hash Algorithm (SHA-1)", Intel, 2010) describes: it leaves the integer units
/// to the rounds, which depend on each other.
enum PortableSHA1 {
    private static let wordCount = 80

    /// Takes `blockCount` blocks of 64 bytes into the chaining value.
    static func compress(_ state: inout SIMD8<UInt32>, _ blocks: UnsafeRawPointer, blockCount: Int) {
        unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: wordCount) { memory in
            let words = unsafe Words(start: memory.baseAddress!)
            for index in 0..<blockCount {
                unsafe compress(&state, blocks + 64 * index, words)
            }
            unsafe wipe(UnsafeMutableRawBufferPointer(memory))
        }
    }

    /// Words of the message schedule with the constants of their rounds already added.
    @unsafe private struct Words {
        let start: UnsafeMutablePointer<UInt32>

        @inline(__always)
        subscript(round: Int) -> UInt32 { unsafe start[round] }

        @inline(__always)
        func put(_ round: Int, _ words: ScheduleVector, _ constant: UInt32) {
            unsafe (words &+ ScheduleVector(repeating: constant)).store(to: start + round)
        }
    }

    /// One block.
    private static func compress(_ state: inout SIMD8<UInt32>, _ block: UnsafeRawPointer, _ w: Words) {
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        let v0 = unsafe ScheduleVector(bigEndian: block + 0)
        unsafe w.put(0, v0, k0)
        let v1 = unsafe ScheduleVector(bigEndian: block + 16)
        unsafe w.put(4, v1, k0)
        let v2 = unsafe ScheduleVector(bigEndian: block + 32)
        unsafe w.put(8, v2, k0)
        let v3 = unsafe ScheduleVector(bigEndian: block + 48)
        unsafe w.put(12, v3, k0)

        // Rounds 0 to 19.
        let v4 = next(v0, v1, v2, v3)
        unsafe w.put(16, v4, k0)
        unsafe choice(a, &b, c, d, &e, w[0])
        unsafe choice(e, &a, b, c, &d, w[1])
        unsafe choice(d, &e, a, b, &c, w[2])
        unsafe choice(c, &d, e, a, &b, w[3])
        let v5 = next(v1, v2, v3, v4)
        unsafe w.put(20, v5, k1)
        unsafe choice(b, &c, d, e, &a, w[4])
        unsafe choice(a, &b, c, d, &e, w[5])
        unsafe choice(e, &a, b, c, &d, w[6])
        unsafe choice(d, &e, a, b, &c, w[7])
        let v6 = next(v2, v3, v4, v5)
        unsafe w.put(24, v6, k1)
        unsafe choice(c, &d, e, a, &b, w[8])
        unsafe choice(b, &c, d, e, &a, w[9])
        unsafe choice(a, &b, c, d, &e, w[10])
        unsafe choice(e, &a, b, c, &d, w[11])
        let v7 = next(v3, v4, v5, v6)
        unsafe w.put(28, v7, k1)
        unsafe choice(d, &e, a, b, &c, w[12])
        unsafe choice(c, &d, e, a, &b, w[13])
        unsafe choice(b, &c, d, e, &a, w[14])
        unsafe choice(a, &b, c, d, &e, w[15])
        let v8 = next(v0, v1, v4, v6, v7)
        unsafe w.put(32, v8, k1)
        unsafe choice(e, &a, b, c, &d, w[16])
        unsafe choice(d, &e, a, b, &c, w[17])
        unsafe choice(c, &d, e, a, &b, w[18])
        unsafe choice(b, &c, d, e, &a, w[19])

        // Rounds 20 to 39.
        let v9 = next(v1, v2, v5, v7, v8)
        unsafe w.put(36, v9, k1)
        unsafe parity(a, &b, c, d, &e, w[20])
        unsafe parity(e, &a, b, c, &d, w[21])
        unsafe parity(d, &e, a, b, &c, w[22])
        unsafe parity(c, &d, e, a, &b, w[23])
        let v10 = next(v2, v3, v6, v8, v9)
        unsafe w.put(40, v10, k2)
        unsafe parity(b, &c, d, e, &a, w[24])
        unsafe parity(a, &b, c, d, &e, w[25])
        unsafe parity(e, &a, b, c, &d, w[26])
        unsafe parity(d, &e, a, b, &c, w[27])
        let v11 = next(v3, v4, v7, v9, v10)
        unsafe w.put(44, v11, k2)
        unsafe parity(c, &d, e, a, &b, w[28])
        unsafe parity(b, &c, d, e, &a, w[29])
        unsafe parity(a, &b, c, d, &e, w[30])
        unsafe parity(e, &a, b, c, &d, w[31])
        let v12 = next(v4, v5, v8, v10, v11)
        unsafe w.put(48, v12, k2)
        unsafe parity(d, &e, a, b, &c, w[32])
        unsafe parity(c, &d, e, a, &b, w[33])
        unsafe parity(b, &c, d, e, &a, w[34])
        unsafe parity(a, &b, c, d, &e, w[35])
        let v13 = next(v5, v6, v9, v11, v12)
        unsafe w.put(52, v13, k2)
        unsafe parity(e, &a, b, c, &d, w[36])
        unsafe parity(d, &e, a, b, &c, w[37])
        unsafe parity(c, &d, e, a, &b, w[38])
        unsafe parity(b, &c, d, e, &a, w[39])

        // Rounds 40 to 59.
        let v14 = next(v6, v7, v10, v12, v13)
        unsafe w.put(56, v14, k2)
        unsafe majority(a, &b, c, d, &e, w[40])
        unsafe majority(e, &a, b, c, &d, w[41])
        unsafe majority(d, &e, a, b, &c, w[42])
        unsafe majority(c, &d, e, a, &b, w[43])
        let v15 = next(v7, v8, v11, v13, v14)
        unsafe w.put(60, v15, k3)
        unsafe majority(b, &c, d, e, &a, w[44])
        unsafe majority(a, &b, c, d, &e, w[45])
        unsafe majority(e, &a, b, c, &d, w[46])
        unsafe majority(d, &e, a, b, &c, w[47])
        let v16 = next(v8, v9, v12, v14, v15)
        unsafe w.put(64, v16, k3)
        unsafe majority(c, &d, e, a, &b, w[48])
        unsafe majority(b, &c, d, e, &a, w[49])
        unsafe majority(a, &b, c, d, &e, w[50])
        unsafe majority(e, &a, b, c, &d, w[51])
        let v17 = next(v9, v10, v13, v15, v16)
        unsafe w.put(68, v17, k3)
        unsafe majority(d, &e, a, b, &c, w[52])
        unsafe majority(c, &d, e, a, &b, w[53])
        unsafe majority(b, &c, d, e, &a, w[54])
        unsafe majority(a, &b, c, d, &e, w[55])
        let v18 = next(v10, v11, v14, v16, v17)
        unsafe w.put(72, v18, k3)
        unsafe majority(e, &a, b, c, &d, w[56])
        unsafe majority(d, &e, a, b, &c, w[57])
        unsafe majority(c, &d, e, a, &b, w[58])
        unsafe majority(b, &c, d, e, &a, w[59])

        // Rounds 60 to 79.
        let v19 = next(v11, v12, v15, v17, v18)
        unsafe w.put(76, v19, k3)
        unsafe parity(a, &b, c, d, &e, w[60])
        unsafe parity(e, &a, b, c, &d, w[61])
        unsafe parity(d, &e, a, b, &c, w[62])
        unsafe parity(c, &d, e, a, &b, w[63])
        unsafe parity(b, &c, d, e, &a, w[64])
        unsafe parity(a, &b, c, d, &e, w[65])
        unsafe parity(e, &a, b, c, &d, w[66])
        unsafe parity(d, &e, a, b, &c, w[67])
        unsafe parity(c, &d, e, a, &b, w[68])
        unsafe parity(b, &c, d, e, &a, w[69])
        unsafe parity(a, &b, c, d, &e, w[70])
        unsafe parity(e, &a, b, c, &d, w[71])
        unsafe parity(d, &e, a, b, &c, w[72])
        unsafe parity(c, &d, e, a, &b, w[73])
        unsafe parity(b, &c, d, e, &a, w[74])
        unsafe parity(a, &b, c, d, &e, w[75])
        unsafe parity(e, &a, b, c, &d, w[76])
        unsafe parity(d, &e, a, b, &c, w[77])
        unsafe parity(c, &d, e, a, &b, w[78])
        unsafe parity(b, &c, d, e, &a, w[79])

        state &+= SIMD8(a, b, c, d, e, 0, 0, 0)
    }

    private static let (k0, k1): (UInt32, UInt32) = (0x5a82_7999, 0x6ed9_eba1)
    private static let (k2, k3): (UInt32, UInt32) = (0x8f1b_bcdc, 0xca62_c1d6)

    /// The next four words of the message schedule after the sixteen that begin with `v16`: Wₜ = (Wₜ₋₃ ⊕ Wₜ₋₈ ⊕ Wₜ₋₁₄ ⊕
    /// Wₜ₋₁₆) rotated by one. The fourth word needs the first, which is added to it afterwards.
    @inline(__always)
    private static func next(
        _ v16: ScheduleVector, _ v12: ScheduleVector, _ v8: ScheduleVector, _ v4: ScheduleVector
    ) -> ScheduleVector {
        let zero = ScheduleVector(repeating: 0)
        let sum = v16 ^ .fromThird(v16, v12) ^ v8 ^ .fromSecond(v4, zero)
        let first = ScheduleVector(SIMD4(0, 0, 0, sum.lanes[0]))
        return sum.rotatedLeft(1) ^ first.rotatedLeft(2)
    }

    /// The next four words of the message schedule from word 32 on, by a recurrence that the one of the standard implies
    /// and in which the four don't depend on each other: Wₜ = (Wₜ₋₆ ⊕ Wₜ₋₁₆ ⊕ Wₜ₋₂₈ ⊕ Wₜ₋₃₂) rotated by two.
    @inline(__always)
    private static func next(
        _ v32: ScheduleVector, _ v28: ScheduleVector, _ v16: ScheduleVector, _ v8: ScheduleVector,
        _ v4: ScheduleVector
    ) -> ScheduleVector {
        (v32 ^ v28 ^ v16 ^ .fromThird(v8, v4)).rotatedLeft(2)
    }

    // One round each, which exchange the variables' roles; `word` has the round's constant in it.

    @inline(__always)
    private static func choice(
        _ a: UInt32, _ b: inout UInt32, _ c: UInt32, _ d: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = (e &+ word) &+ (((c ^ d) & b) ^ d) &+ a.rotatedLeft(5)
        b = b.rotatedLeft(30)
    }

    @inline(__always)
    private static func parity(
        _ a: UInt32, _ b: inout UInt32, _ c: UInt32, _ d: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = (e &+ word) &+ (b ^ c ^ d) &+ a.rotatedLeft(5)
        b = b.rotatedLeft(30)
    }

    @inline(__always)
    private static func majority(
        _ a: UInt32, _ b: inout UInt32, _ c: UInt32, _ d: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = (e &+ word) &+ (b & c) &+ ((b ^ c) & d) &+ a.rotatedLeft(5)
        b = b.rotatedLeft(30)
    }
}
