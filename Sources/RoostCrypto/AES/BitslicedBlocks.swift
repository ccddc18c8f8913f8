/// Eight AES blocks in bitsliced form: plane `q0` holds bit 0 of all 128 bytes, …, `q7` bit 7.
///
/// Every step is a fixed sequence of Boolean operations, so neither time nor memory access depends on the data.
///
/// ShiftRows is never carried out. After `r` rounds the planes hold the state with ShiftRows undone `r` times, and
/// MixColumns works on the shifted columns instead (A. Adomnicai, T. Peyrin, "Fixslicing AES-like Ciphers", TCHES
/// 2021); since ShiftRows four times is the identity there are four forms of MixColumns.
struct BitslicedBlocks<Plane: BitPlane> {
    var q0: Plane, q1: Plane, q2: Plane, q3: Plane
    var q4: Plane, q5: Plane, q6: Plane, q7: Plane

    /// Eight blocks, in their ordinary form.
    typealias Blocks = (Block128, Block128, Block128, Block128, Block128, Block128, Block128, Block128)

    /// Brings eight blocks into bitsliced form.
    @inline(__always)
    init(_ blocks: Blocks) {
        q0 = Plane(rowsOf: blocks.0)
        q1 = Plane(rowsOf: blocks.1)
        q2 = Plane(rowsOf: blocks.2)
        q3 = Plane(rowsOf: blocks.3)
        q4 = Plane(rowsOf: blocks.4)
        q5 = Plane(rowsOf: blocks.5)
        q6 = Plane(rowsOf: blocks.6)
        q7 = Plane(rowsOf: blocks.7)
        transpose()
    }

    /// One block eight times: a round key, or a single block to encrypt.
    @inline(__always)
    init(repeating block: Block128) {
        self.init((block, block, block, block, block, block, block, block))
    }

    /// The eight blocks in their ordinary form.
    @inline(__always)
    consuming func blocks() -> Blocks {
        transpose()
        return (q0.block, q1.block, q2.block, q3.block, q4.block, q5.block, q6.block, q7.block)
    }

    /// Adds a bitsliced round key.
    @inline(__always)
    mutating func add(_ key: UnsafePointer<Self>) {
        unsafe q0 = q0 ^ key.pointee.q0
        unsafe q1 = q1 ^ key.pointee.q1
        unsafe q2 = q2 ^ key.pointee.q2
        unsafe q3 = q3 ^ key.pointee.q3
        unsafe q4 = q4 ^ key.pointee.q4
        unsafe q5 = q5 ^ key.pointee.q5
        unsafe q6 = q6 ^ key.pointee.q6
        unsafe q7 = q7 ^ key.pointee.q7
    }
}

// MARK: - Between bytes and bit planes

extension BitslicedBlocks {
    /// Transposes the 8×8 bit matrices formed by the same byte of the eight planes; its own inverse.
    @inline(__always)
    private mutating func transpose() {
        Self.swap(&q0, &q1, 1, 0x5555_5555_5555_5555)
        Self.swap(&q2, &q3, 1, 0x5555_5555_5555_5555)
        Self.swap(&q4, &q5, 1, 0x5555_5555_5555_5555)
        Self.swap(&q6, &q7, 1, 0x5555_5555_5555_5555)
        Self.swap(&q0, &q2, 2, 0x3333_3333_3333_3333)
        Self.swap(&q1, &q3, 2, 0x3333_3333_3333_3333)
        Self.swap(&q4, &q6, 2, 0x3333_3333_3333_3333)
        Self.swap(&q5, &q7, 2, 0x3333_3333_3333_3333)
        Self.swap(&q0, &q4, 4, 0x0F0F_0F0F_0F0F_0F0F)
        Self.swap(&q1, &q5, 4, 0x0F0F_0F0F_0F0F_0F0F)
        Self.swap(&q2, &q6, 4, 0x0F0F_0F0F_0F0F_0F0F)
        Self.swap(&q3, &q7, 4, 0x0F0F_0F0F_0F0F_0F0F)
    }

    /// Exchanges the masked bits of `y` with the bits `shift` higher of `x`.
    @inline(__always)
    private static func swap(_ x: inout Plane, _ y: inout Plane, _ shift: Int, _ pattern: UInt64) {
        let difference = (x.shiftedRight(shift) ^ y) & Plane(repeating: pattern)
        y = y ^ difference
        x = x ^ difference.shiftedLeft(shift)
    }
}

// MARK: - Rounds

extension BitslicedBlocks {
    /// Encrypts the eight blocks under the bitsliced round keys of ``KeySchedule``.
    @inline(__always)
    mutating func encrypt(_ keys: UnsafePointer<Self>) {
        unsafe add(keys)
        var round = 1
        while true {
            unsafe encryptRound(keys + round, shift: 1)
            if round == 13 { break }
            unsafe encryptRound(keys + round + 1, shift: 2)
            unsafe encryptRound(keys + round + 2, shift: 3)
            unsafe encryptRound(keys + round + 3, shift: 0)
            round += 4
        }
        substitute()
        shiftRowsTwice()
        unsafe add(keys + 14)
    }

    @inline(__always)
    private mutating func encryptRound(_ key: UnsafePointer<Self>, shift: Int) {
        substitute()
        mixColumns(shift: shift)
        unsafe add(key)
    }

    /// The inverse of ``encrypt(_:)``.
    @inline(__always)
    mutating func decrypt(_ keys: UnsafePointer<Self>) {
        unsafe add(keys + 14)
        shiftRowsTwice()
        inverseSubstitute()
        var round = 13
        while true {
            unsafe decryptRound(keys + round, shift: 1)
            if round == 1 { break }
            unsafe decryptRound(keys + round - 1, shift: 0)
            unsafe decryptRound(keys + round - 2, shift: 3)
            unsafe decryptRound(keys + round - 3, shift: 2)
            round -= 4
        }
        unsafe add(keys)
    }

    @inline(__always)
    private mutating func decryptRound(_ key: UnsafePointer<Self>, shift: Int) {
        unsafe add(key)
        inverseMixColumns(shift: shift)
        inverseSubstitute()
    }
}

// MARK: - SBox

extension BitslicedBlocks {
    /// SubBytes without its constant 0x63, which the round keys contain instead.
    ///
    /// The circuit of J. Boyar and R. Peralta, "A depth-16 circuit for the AES S-box" (IACR ePrint 2011/332), in its
    /// three parts: a linear layer, the inversion in GF(2⁸) through GF(2⁴), a linear layer. The names are the
    /// paper's; there U0 is the highest bit.
    @inline(__always)
    mutating func substitute() {
        let (x0, x1, x2, x3, x4, x5, x6, x7) = (q7, q6, q5, q4, q3, q2, q1, q0)

        let y14 = x3 ^ x5
        let y13 = x0 ^ x6
        let y9 = x0 ^ x3
        let y8 = x0 ^ x5
        let t0 = x1 ^ x2
        let y1 = t0 ^ x7
        let y4 = y1 ^ x3
        let y12 = y13 ^ y14
        let y2 = y1 ^ x0
        let y5 = y1 ^ x6
        let y3 = y5 ^ y8
        let t1 = x4 ^ y12
        let y15 = t1 ^ x5
        let y20 = t1 ^ x1
        let y6 = y15 ^ x7
        let y10 = y15 ^ t0
        let y11 = y20 ^ y9
        let y7 = x7 ^ y11
        let y17 = y10 ^ y11
        let y19 = y10 ^ y8
        let y16 = t0 ^ y11
        let y21 = y13 ^ y16
        let y18 = x0 ^ y16

        let t2 = y12 & y15
        let t4 = (y3 & y6) ^ t2
        let t6 = (y4 & x7) ^ t2
        let t7 = y13 & y16
        let t9 = (y5 & y1) ^ t7
        let t11 = (y2 & y7) ^ t7
        let t12 = y9 & y11
        let t14 = (y14 & y17) ^ t12
        let t16 = (y8 & y10) ^ t12
        let t21 = t4 ^ t14 ^ y20
        let t22 = t6 ^ t16 ^ y19
        let t23 = t9 ^ t14 ^ y21
        let t24 = t11 ^ t16 ^ y18
        let t25 = t21 ^ t22
        let t26 = t21 & t23
        let t27 = t24 ^ t26
        let t29 = (t25 & t27) ^ t22
        let t30 = t23 ^ t24
        let t31 = t22 ^ t26
        let t33 = (t31 & t30) ^ t24
        let t34 = t23 ^ t33
        let t35 = t27 ^ t33
        let t36 = t24 & t35
        let t37 = t36 ^ t34
        let t38 = t27 ^ t36
        let t40 = t25 ^ (t29 & t38)
        let t41 = t40 ^ t37
        let t42 = t29 ^ t33
        let t43 = t29 ^ t40
        let t44 = t33 ^ t37
        let t45 = t42 ^ t41

        let z0 = t44 & y15
        let z1 = t37 & y6
        let z2 = t33 & x7
        let z3 = t43 & y16
        let z4 = t40 & y1
        let z5 = t29 & y7
        let z6 = t42 & y11
        let z7 = t45 & y17
        let z8 = t41 & y10
        let z9 = t44 & y12
        let z10 = t37 & y3
        let z11 = t33 & y4
        let z12 = t43 & y13
        let z13 = t40 & y5
        let z14 = t29 & y2
        let z15 = t42 & y9
        let z16 = t45 & y14
        let z17 = t41 & y8

        let t46 = z15 ^ z16
        let t48 = z5 ^ z13
        let t53 = z0 ^ z3
        let t57 = z2 ^ z12 ^ t53
        let t58 = z4 ^ t46
        let t59 = z3 ^ z6 ^ z7
        let t60 = t46 ^ t57
        let t62 = z7 ^ z8 ^ t58
        let t63 = z9 ^ z10 ^ t58
        let t64 = z4 ^ t59
        let t65 = z14 ^ t57 ^ t62
        let t66 = z1 ^ t63
        let s3 = t53 ^ t66

        q7 = t59 ^ t63
        q6 = t64 ^ s3
        q5 = z16 ^ z17 ^ t64 ^ t65
        q4 = s3
        q3 = z2 ^ z5 ^ t66
        q2 = z10 ^ z11 ^ t65
        q1 = z12 ^ t48 ^ t62
        q0 = t48 ^ t60
    }

    /// The inverse of SubBytes, to a state to which the constant 0x63 has already been added.
    ///
    /// SubBytes is an inversion followed by an affine map, so its inverse is the inverse affine map on both sides of
    /// the same circuit.
    @inline(__always)
    mutating func inverseSubstitute() {
        inverseAffine()
        substitute()
        inverseAffine()
    }

    /// The linear part of the inverse of the S-box's affine map: bit i is the sum of bits i+2, i+5 and i+7.
    @inline(__always)
    private mutating func inverseAffine() {
        let (p0, p1, p2, p3, p4, p5, p6, p7) = (q0, q1, q2, q3, q4, q5, q6, q7)
        q0 = p2 ^ p5 ^ p7
        q1 = p3 ^ p6 ^ p0
        q2 = p4 ^ p7 ^ p1
        q3 = p5 ^ p0 ^ p2
        q4 = p6 ^ p1 ^ p3
        q5 = p7 ^ p2 ^ p4
        q6 = p0 ^ p3 ^ p5
        q7 = p1 ^ p4 ^ p6
    }
}

// MARK: - Mix Columns

extension BitslicedBlocks {
    /// MixColumns on a state whose ShiftRows was undone `shift` (0…3) times.
    ///
    /// Per byte `2·(a₀+a₁) + a₁ + (a₂+a₃)`, where a₁ is the byte of the next row: with the rows shifted, it stands
    /// `shift` columns further on.
    @inline(__always)
    mutating func mixColumns(shift: Int) {
        let (r0, r1, r2, r3) = (next(q0, shift), next(q1, shift), next(q2, shift), next(q3, shift))
        let (r4, r5, r6, r7) = (next(q4, shift), next(q5, shift), next(q6, shift), next(q7, shift))
        let (c0, c1, c2, c3) = (q0 ^ r0, q1 ^ r1, q2 ^ r2, q3 ^ r3)
        let (c4, c5, c6, c7) = (q4 ^ r4, q5 ^ r5, q6 ^ r6, q7 ^ r7)
        q0 = r0 ^ c7 ^ opposite(c0, shift)
        q1 = r1 ^ c0 ^ c7 ^ opposite(c1, shift)
        q2 = r2 ^ c1 ^ opposite(c2, shift)
        q3 = r3 ^ c2 ^ c7 ^ opposite(c3, shift)
        q4 = r4 ^ c3 ^ c7 ^ opposite(c4, shift)
        q5 = r5 ^ c4 ^ opposite(c5, shift)
        q6 = r6 ^ c5 ^ opposite(c6, shift)
        q7 = r7 ^ c6 ^ opposite(c7, shift)
    }

    /// The inverse of ``mixColumns(shift:)``: MixColumns after adding `4·(a₀+a₂)` to every byte.
    @inline(__always)
    mutating func inverseMixColumns(shift: Int) {
        let (c0, c1) = (q0 ^ opposite(q0, shift), q1 ^ opposite(q1, shift))
        let (c2, c3) = (q2 ^ opposite(q2, shift), q3 ^ opposite(q3, shift))
        let (c4, c5) = (q4 ^ opposite(q4, shift), q5 ^ opposite(q5, shift))
        let (c6, c7) = (q6 ^ opposite(q6, shift), q7 ^ opposite(q7, shift))
        q0 = q0 ^ c6
        q1 = q1 ^ c6 ^ c7
        q2 = q2 ^ c0 ^ c7
        q3 = q3 ^ c1 ^ c6
        q4 = q4 ^ c2 ^ c6 ^ c7
        q5 = q5 ^ c3 ^ c7
        q6 = q6 ^ c4
        q7 = q7 ^ c5
        mixColumns(shift: shift)
    }

    /// ShiftRows twice, which is its own inverse: the odd rows move by two columns.
    @inline(__always)
    mutating func shiftRowsTwice() {
        q0 = swapColumnsOfOddRows(q0)
        q1 = swapColumnsOfOddRows(q1)
        q2 = swapColumnsOfOddRows(q2)
        q3 = swapColumnsOfOddRows(q3)
        q4 = swapColumnsOfOddRows(q4)
        q5 = swapColumnsOfOddRows(q5)
        q6 = swapColumnsOfOddRows(q6)
        q7 = swapColumnsOfOddRows(q7)
    }

    @inline(__always)
    private func swapColumnsOfOddRows(_ plane: Plane) -> Plane {
        plane ^ ((plane ^ plane.nextColumn(2)) & Plane(repeating: 0xFFFF_FFFF_0000_0000))
    }

    /// Brings every byte's successor in its (shifted) column to the byte's own place.
    @inline(__always)
    private func next(_ plane: Plane, _ shift: Int) -> Plane {
        plane.nextRow.nextColumn(shift)
    }

    /// Brings the byte two rows further on in the (shifted) column to the byte's own place.
    @inline(__always)
    private func opposite(_ plane: Plane, _ shift: Int) -> Plane {
        plane.oppositeRow.nextColumn((2 * shift) & 3)
    }
}
