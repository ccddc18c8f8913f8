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
