#if arch(arm64)
    import CRoostHardware
    import _Builtin_intrinsics.arm.neon

    /// AES-256 in counter mode and GHASH at the same time, with the instructions of arm64.
    package enum GCMInstructions {
        /// Encrypts or decrypts batches of eight blocks.
        ///
        /// When opening, every batch is taken into the state; when sealing, every batch of output but the last, which is
        /// left to the caller. Returns how many are left.
        package static func processBatches(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batchCount: Int,
            _ counter: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
            _ table: UnsafeRawPointer, isSealing: Bool, isWide _: Bool
        ) -> Int {
            unsafe roost_gcm_batches_(output, input, batchCount, counter, state, keys, table, isSealing)
            return isSealing ? 1 : 0
        }

        /// Takes up to eight blocks and the one of lengths after them into the state, decrypts the blocks in place, and adds the
        /// encrypted pre-counter, which makes the state the tag.
        package static func openTail(
            _ blocks: UnsafeMutableRawPointer, _ blockCount: Int, _ counter: UnsafeRawPointer,
            _ preCounter: UnsafeRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
            _ table: UnsafeRawPointer
        ) {
            unsafe GHASHInstructions.update(state, blocks, blockCount + 1, table)
            var next = unsafe Block128(loading: counter)
            unsafe AESInstructions.applyCounter(blocks, blocks, blockCount, &next, keys, isWide: false)
            var mask = unsafe Block128(loading: preCounter)
            unsafe AESInstructions.encrypt(&mask, keys)
            unsafe (Block128(loading: state) ^ mask).store(to: state)
        }
    }

    // A round of eight encryptions and the multiplication of one block alternate. See AESCounter+ARM.swift and
    // GHASHInstructions+ARM.swift for either of them.
    @c @implementation
    func roost_gcm_batches(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batch_count: Int,
        _ counter: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
        _ table: UnsafeRawPointer, _ hashes_output: Bool
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: uint8x16_t.self)
        let table = unsafe table.assumingMemoryBound(to: uint64x2_t.self)
        let modulus = uint64x2_t(0xC200_0000_0000_0000, 0)
        let zero = uint64x2_t(0, 0)
        var words = unsafe counter.loadUnaligned(as: uint32x4_t.self)
        var number = UInt32(bigEndian: words[3])
        let swapped = unsafe vreinterpretq_u64_u8(vrev64q_u8(state.loadUnaligned(as: uint8x16_t.self)))
        var sum = uint64x2_t(swapped[1], swapped[0])
        var source = unsafe input
        var target = unsafe output
        // When sealing, the batch before; the first time there is none.
        var hashed = unsafe hashes_output ? UnsafeRawPointer(output) - 128 : input
        var hashes = !hashes_output
        var rest = batch_count
        while rest > 0 {
            words[3] = number.bigEndian
            var b0 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b1 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b2 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b3 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b4 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b5 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b6 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b7 = vreinterpretq_u8_u32(words)
            number &+= 1
            var round = 0
            if hashes {
                var (low, middle, high) = (zero, zero, zero)
                while round < 8 {
                    let key = unsafe keys[round]
                    b0 = vaesmcq_u8(vaeseq_u8(b0, key))
                    b1 = vaesmcq_u8(vaeseq_u8(b1, key))
                    b2 = vaesmcq_u8(vaeseq_u8(b2, key))
                    b3 = vaesmcq_u8(vaeseq_u8(b3, key))
                    b4 = vaesmcq_u8(vaeseq_u8(b4, key))
                    b5 = vaesmcq_u8(vaeseq_u8(b5, key))
                    b6 = vaesmcq_u8(vaeseq_u8(b6, key))
                    b7 = vaesmcq_u8(vaeseq_u8(b7, key))
                    let bytes = unsafe hashed.loadUnaligned(fromByteOffset: 16 * round, as: uint8x16_t.self)
                    let loaded = vreinterpretq_u64_u8(vrev64q_u8(bytes))
                    let block = sum ^ uint64x2_t(loaded[1], loaded[0])
                    sum = zero
                    unsafe low ^= roost_multiply_low(block, table[2 * round])
                    unsafe high ^= roost_multiply_high(block, table[2 * round])
                    let folded = block ^ uint64x2_t(block[1], block[0])
                    unsafe middle ^= roost_multiply_low(folded, table[2 * round + 1])
                    round += 1
                }
                middle ^= low ^ high
                let lower = low ^ uint64x2_t(0, middle[0])
                let upper = high ^ uint64x2_t(middle[1], 0)
                let once = uint64x2_t(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
                sum = upper ^ uint64x2_t(once[1], once[0]) ^ roost_multiply_low(once, modulus)
            }
            while round < 13 {
                let key = unsafe keys[round]
                b0 = vaesmcq_u8(vaeseq_u8(b0, key))
                b1 = vaesmcq_u8(vaeseq_u8(b1, key))
                b2 = vaesmcq_u8(vaeseq_u8(b2, key))
                b3 = vaesmcq_u8(vaeseq_u8(b3, key))
                b4 = vaesmcq_u8(vaeseq_u8(b4, key))
                b5 = vaesmcq_u8(vaeseq_u8(b5, key))
                b6 = vaesmcq_u8(vaeseq_u8(b6, key))
                b7 = vaesmcq_u8(vaeseq_u8(b7, key))
                round += 1
            }
            let (key, last) = unsafe (keys[13], keys[14])
            b0 = veorq_u8(vaeseq_u8(b0, key), last)
            b1 = veorq_u8(vaeseq_u8(b1, key), last)
            b2 = veorq_u8(vaeseq_u8(b2, key), last)
            b3 = veorq_u8(vaeseq_u8(b3, key), last)
            b4 = veorq_u8(vaeseq_u8(b4, key), last)
            b5 = veorq_u8(vaeseq_u8(b5, key), last)
            b6 = veorq_u8(vaeseq_u8(b6, key), last)
            b7 = veorq_u8(vaeseq_u8(b7, key), last)
            b0 = unsafe veorq_u8(b0, source.loadUnaligned(as: uint8x16_t.self))
            b1 = unsafe veorq_u8(b1, source.loadUnaligned(fromByteOffset: 16, as: uint8x16_t.self))
            b2 = unsafe veorq_u8(b2, source.loadUnaligned(fromByteOffset: 32, as: uint8x16_t.self))
            b3 = unsafe veorq_u8(b3, source.loadUnaligned(fromByteOffset: 48, as: uint8x16_t.self))
            b4 = unsafe veorq_u8(b4, source.loadUnaligned(fromByteOffset: 64, as: uint8x16_t.self))
            b5 = unsafe veorq_u8(b5, source.loadUnaligned(fromByteOffset: 80, as: uint8x16_t.self))
            b6 = unsafe veorq_u8(b6, source.loadUnaligned(fromByteOffset: 96, as: uint8x16_t.self))
            b7 = unsafe veorq_u8(b7, source.loadUnaligned(fromByteOffset: 112, as: uint8x16_t.self))
            unsafe target.storeBytes(of: b0, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b1, toByteOffset: 16, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b2, toByteOffset: 32, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b3, toByteOffset: 48, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b4, toByteOffset: 64, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b5, toByteOffset: 80, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b6, toByteOffset: 96, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b7, toByteOffset: 112, as: uint8x16_t.self)
            hashes = true
            unsafe source += 128
            unsafe target += 128
            unsafe hashed += 128
            rest -= 1
        }
        words[3] = number.bigEndian
        unsafe counter.storeBytes(of: words, as: uint32x4_t.self)
        let result = vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(sum)))
        unsafe state.storeBytes(of: uint64x2_t(result[1], result[0]), as: uint64x2_t.self)
    }
#endif

// MARK: - GHASHInstructions

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
