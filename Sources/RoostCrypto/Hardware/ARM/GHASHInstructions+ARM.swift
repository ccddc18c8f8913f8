#if arch(arm64)
    import CRoostHardware
    import _Builtin_intrinsics.arm.neon

    /// GHASH with the polynomial multiplication of arm64.
    ///
    /// An element stands in a register byte-reversed, so that the bit for x¹²⁷⁻ᵏ is bit k. The 255-bit product of two such
    /// registers is reduced from its low end, as in Montgomery's multiplication: twice the lowest 64 bits are made zero by
    /// adding a multiple of the modulus (S. Gueron, "AES-GCM software performance", 2013). That gives the product times x,
    /// so the table holds the powers of the hash key divided by x: eight pairs of 16 bytes, H⁸ first, each followed by the
    /// sum of its halves, which Karatsuba's multiplication needs.
    package enum GHASHInstructions {
        package static let tableByteCount = 8 * 32

        /// Writes the table, aligned to 16.
        package static func prepare(_ table: UnsafeMutableRawPointer, _ hashKey: UnsafeRawPointer) {
            unsafe roost_ghash_prepare_(table, hashKey)
        }

        /// Takes blocks into the state.
        package static func update(
            _ state: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ blockCount: Int,
            _ table: UnsafeRawPointer
        ) {
            unsafe roost_ghash_update_(state, input, blockCount, table)
        }
    }

    @c @implementation
    func roost_ghash_prepare(_ table: UnsafeMutableRawPointer, _ hash_key: UnsafeRawPointer) {
        let table = unsafe table.assumingMemoryBound(to: uint64x2_t.self)
        let modulus = uint64x2_t(0xC200_0000_0000_0000, 0)
        // Division by x: a shift to the left, and what falls out is x⁻¹ = x¹²⁷ + x⁶ + x + 1.
        let h = unsafe hash_key.loadUnaligned(as: uint64x2_t.self)
        let (low, high) = (h[1].byteSwapped, h[0].byteSwapped)
        let fallen = 0 &- (high >> 63)
        let divided = uint64x2_t(
            (low << 1) ^ (fallen & 1), (high << 1 | low >> 63) ^ (fallen & 0xC200_0000_0000_0000))
        let dividedSum = uint64x2_t(divided[0] ^ divided[1], 0)
        var power = divided
        var index = 7
        while true {
            let powerSum = uint64x2_t(power[0] ^ power[1], 0)
            unsafe table[2 * index] = power
            unsafe table[2 * index + 1] = powerSum
            if index == 0 { break }
            let lowProduct = roost_multiply_low(power, divided)
            let highProduct = roost_multiply_high(power, divided)
            let middle = roost_multiply_low(powerSum, dividedSum) ^ lowProduct ^ highProduct
            let lower = lowProduct ^ uint64x2_t(0, middle[0])
            let upper = highProduct ^ uint64x2_t(middle[1], 0)
            let once = uint64x2_t(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
            power = upper ^ uint64x2_t(once[1], once[0]) ^ roost_multiply_low(once, modulus)
            index -= 1
        }
    }

    @c @implementation
    func roost_ghash_update(
        _ state: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ table: UnsafeRawPointer
    ) {
        let table = unsafe table.assumingMemoryBound(to: uint64x2_t.self)
        let modulus = uint64x2_t(0xC200_0000_0000_0000, 0)
        let zero = uint64x2_t(0, 0)
        let swapped = unsafe vreinterpretq_u64_u8(vrev64q_u8(state.loadUnaligned(as: uint8x16_t.self)))
        var sum = uint64x2_t(swapped[1], swapped[0])
        var source = unsafe input
        var rest = block_count
        while rest > 0 {
            // Up to eight blocks times the powers of the hash key, reduced once.
            let count = rest < 8 ? rest : 8
            var power = 2 * (8 - count)
            var (low, middle, high) = (zero, zero, zero)
            while power < 16 {
                let loaded = unsafe vreinterpretq_u64_u8(
                    vrev64q_u8(source.loadUnaligned(as: uint8x16_t.self)))
                let block = sum ^ uint64x2_t(loaded[1], loaded[0])
                sum = zero
                unsafe low ^= roost_multiply_low(block, table[power])
                unsafe high ^= roost_multiply_high(block, table[power])
                let folded = block ^ uint64x2_t(block[1], block[0])
                unsafe middle ^= roost_multiply_low(folded, table[power + 1])
                unsafe source += 16
                power += 2
            }
            middle ^= low ^ high
            let lower = low ^ uint64x2_t(0, middle[0])
            let upper = high ^ uint64x2_t(middle[1], 0)
            let once = uint64x2_t(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
            sum = upper ^ uint64x2_t(once[1], once[0]) ^ roost_multiply_low(once, modulus)
            rest -= count
        }
        let result = vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(sum)))
        unsafe state.storeBytes(of: uint64x2_t(result[1], result[0]), as: uint64x2_t.self)
    }
#endif
