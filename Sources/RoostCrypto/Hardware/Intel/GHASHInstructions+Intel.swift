#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    /// GHASH with PCLMULQDQ.
    ///
    /// An element stands in a register byte-reversed, so that the bit for x¹²⁷⁻ᵏ is bit k. The 255-bit product of two such
    /// registers is reduced from its low end, as in Montgomery's multiplication: twice the lowest 64 bits are made zero by
    /// adding a multiple of the modulus (S. Gueron, "AES-GCM software performance", 2013). That gives the product times x,
    /// so the table holds the powers of the hash key divided by x, H¹⁶ first, and after these sixteen the sums of their
    /// halves, which Karatsuba's multiplication needs.
    package enum GHASHInstructions {
        package static let tableByteCount = 2 * 16 * 16

        /// Writes the table, aligned to 32.
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
        let table = unsafe table.assumingMemoryBound(to: __m128i.self)
        let reversal = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        let modulus = __m128i(Int64(bitPattern: 0xC200_0000_0000_0000), 0)
        let h = unsafe _mm_shuffle_epi8(hash_key.loadUnaligned(as: __m128i.self), reversal)
        // Division by x: a shift to the left, and what falls out is x⁻¹ = x¹²⁷ + x⁶ + x + 1.
        let (low, high) = (UInt64(bitPattern: h[0]), UInt64(bitPattern: h[1]))
        let fallen = 0 &- (high >> 63)
        let divided = __m128i(
            Int64(bitPattern: (low << 1) ^ (fallen & 1)),
            Int64(bitPattern: (high << 1 | low >> 63) ^ (fallen & 0xC200_0000_0000_0000)))
        var power = divided
        var index = 15
        while true {
            unsafe table[index] = power
            unsafe table[16 + index] = power ^ _mm_unpackhi_epi64(power, power)
            if index == 0 { break }
            let lowProduct = roost_multiply_low(power, divided)
            let highProduct = roost_multiply_high(power, divided)
            let sums = (
                power ^ _mm_unpackhi_epi64(power, power), divided ^ _mm_unpackhi_epi64(divided, divided)
            )
            let middle = roost_multiply_low(sums.0, sums.1) ^ lowProduct ^ highProduct
            let lower = lowProduct ^ __m128i(0, middle[0])
            let upper = highProduct ^ __m128i(middle[1], 0)
            let once = __m128i(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
            power = upper ^ __m128i(once[1], once[0]) ^ roost_multiply_low(once, modulus)
            index -= 1
        }
    }

    @c @implementation
    func roost_ghash_update(
        _ state: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ table: UnsafeRawPointer
    ) {
        let table = unsafe table.assumingMemoryBound(to: __m128i.self)
        let reversal = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        let modulus = __m128i(Int64(bitPattern: 0xC200_0000_0000_0000), 0)
        let zero = __m128i(0, 0)
        var sum = unsafe _mm_shuffle_epi8(state.loadUnaligned(as: __m128i.self), reversal)
        var source = unsafe input
        var rest = block_count
        while rest > 0 {
            // Up to sixteen blocks times the powers of the hash key, reduced once.
            let count = rest < 16 ? rest : 16
            var power = 16 - count
            var (low, middle, high) = (zero, zero, zero)
            while power < 16 {
                let block = unsafe sum ^ _mm_shuffle_epi8(source.loadUnaligned(as: __m128i.self), reversal)
                sum = zero
                unsafe low ^= roost_multiply_low(block, table[power])
                unsafe high ^= roost_multiply_high(block, table[power])
                unsafe middle ^= roost_multiply_low(
                    block ^ _mm_unpackhi_epi64(block, block), table[16 + power])
                unsafe source += 16
                power += 1
            }
            middle ^= low ^ high
            let lower = low ^ __m128i(0, middle[0])
            let upper = high ^ __m128i(middle[1], 0)
            let once = __m128i(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
            sum = upper ^ __m128i(once[1], once[0]) ^ roost_multiply_low(once, modulus)
            rest -= count
        }
        unsafe state.storeBytes(of: _mm_shuffle_epi8(sum, reversal), as: __m128i.self)
    }
#endif
