#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    /// AES-256 in counter mode and GHASH at the same time, with AES-NI and PCLMULQDQ.
    package enum GCMInstructions {
        /// Encrypts or decrypts batches of eight blocks.
        ///
        /// When opening, every batch is taken into the state; when sealing, every batch of output but the last ones, which
        /// are left to the caller. Returns how many these are. `isWide`
        /// allows the instructions of VAES and VPCLMULQDQ.
        package static func processBatches(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batchCount: Int,
            _ counter: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
            _ table: UnsafeRawPointer, isSealing: Bool, isWide: Bool
        ) -> Int {
            let done = isWide ? batchCount / 2 * 2 : 0
            if done > 0 {
                unsafe processPairs(
                    output, input, done / 2, counter, state, keys, table, isSealing: isSealing)
            }
            if done < batchCount {
                unsafe processSingle(
                    output + 128 * done, input + 128 * done, batchCount - done, counter, state, keys, table,
                    isSealing: isSealing)
            }
            guard isSealing else { return 0 }
            return (done > 0 ? 2 : 0) + (done < batchCount ? 1 : 0)
        }

        /// Batches one after the other; leaves one when sealing.
        package static func processSingle(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batchCount: Int,
            _ counter: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
            _ table: UnsafeRawPointer, isSealing: Bool
        ) {
            unsafe roost_gcm_batches_(output, input, batchCount, counter, state, keys, table, isSealing)
        }

        /// Takes up to eight blocks and the one of lengths after them into the state, decrypts the blocks in place, and adds the
        /// encrypted pre-counter, which makes the state the tag.
        package static func openTail(
            _ blocks: UnsafeMutableRawPointer, _ blockCount: Int, _ counter: UnsafeRawPointer,
            _ preCounter: UnsafeRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
            _ table: UnsafeRawPointer
        ) {
            unsafe roost_gcm_open_tail_(blocks, blockCount, counter, preCounter, state, keys, table)
        }
    }

    // A round of eight encryptions and the multiplication of one block alternate. See AESCounter+Intel.swift and
    // GHASHInstructions+Intel.swift for either of them.
    @c @implementation
    func roost_gcm_batches(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batch_count: Int,
        _ counter: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
        _ table: UnsafeRawPointer, _ hashes_output: Bool
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        let table = unsafe table.assumingMemoryBound(to: __m128i.self)
        let reversal = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        let modulus = __m128i(Int64(bitPattern: 0xC200_0000_0000_0000), 0)
        let zero = __m128i(0, 0)
        let one = _mm_set_epi32(0, 0, 0, 1)
        var next = unsafe _mm_shuffle_epi8(counter.loadUnaligned(as: __m128i.self), reversal)
        var sum = unsafe _mm_shuffle_epi8(state.loadUnaligned(as: __m128i.self), reversal)
        var source = unsafe input
        var target = unsafe output
        // When sealing, the batch before; the first time there is none.
        var hashed = unsafe hashes_output ? UnsafeRawPointer(output) - 128 : input
        var hashes = !hashes_output
        var rest = batch_count
        while rest > 0 {
            let first = unsafe keys[0]
            var b0 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var b1 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var b2 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var b3 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var b4 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var b5 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var b6 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var b7 = _mm_shuffle_epi8(next, reversal) ^ first
            next = _mm_add_epi32(next, one)
            var round = 1
            if hashes {
                var (low, middle, high) = (zero, zero, zero)
                while round < 9 {
                    let key = unsafe keys[round]
                    b0 = _mm_aesenc_si128(b0, key)
                    b1 = _mm_aesenc_si128(b1, key)
                    b2 = _mm_aesenc_si128(b2, key)
                    b3 = _mm_aesenc_si128(b3, key)
                    b4 = _mm_aesenc_si128(b4, key)
                    b5 = _mm_aesenc_si128(b5, key)
                    b6 = _mm_aesenc_si128(b6, key)
                    b7 = _mm_aesenc_si128(b7, key)
                    let loaded = unsafe hashed.loadUnaligned(
                        fromByteOffset: 16 * round - 16, as: __m128i.self)
                    let block = sum ^ _mm_shuffle_epi8(loaded, reversal)
                    sum = zero
                    unsafe low ^= roost_multiply_low(block, table[7 + round])
                    unsafe high ^= roost_multiply_high(block, table[7 + round])
                    let folded = block ^ _mm_unpackhi_epi64(block, block)
                    unsafe middle ^= roost_multiply_low(folded, table[23 + round])
                    round += 1
                }
                middle ^= low ^ high
                let lower = low ^ __m128i(0, middle[0])
                let upper = high ^ __m128i(middle[1], 0)
                let once = __m128i(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
                sum = upper ^ __m128i(once[1], once[0]) ^ roost_multiply_low(once, modulus)
            }
            while round < 14 {
                let key = unsafe keys[round]
                b0 = _mm_aesenc_si128(b0, key)
                b1 = _mm_aesenc_si128(b1, key)
                b2 = _mm_aesenc_si128(b2, key)
                b3 = _mm_aesenc_si128(b3, key)
                b4 = _mm_aesenc_si128(b4, key)
                b5 = _mm_aesenc_si128(b5, key)
                b6 = _mm_aesenc_si128(b6, key)
                b7 = _mm_aesenc_si128(b7, key)
                round += 1
            }
            let last = unsafe keys[14]
            let p0 = unsafe source.loadUnaligned(as: __m128i.self) ^ last
            let p1 = unsafe source.loadUnaligned(fromByteOffset: 16, as: __m128i.self) ^ last
            let p2 = unsafe source.loadUnaligned(fromByteOffset: 32, as: __m128i.self) ^ last
            let p3 = unsafe source.loadUnaligned(fromByteOffset: 48, as: __m128i.self) ^ last
            let p4 = unsafe source.loadUnaligned(fromByteOffset: 64, as: __m128i.self) ^ last
            let p5 = unsafe source.loadUnaligned(fromByteOffset: 80, as: __m128i.self) ^ last
            let p6 = unsafe source.loadUnaligned(fromByteOffset: 96, as: __m128i.self) ^ last
            let p7 = unsafe source.loadUnaligned(fromByteOffset: 112, as: __m128i.self) ^ last
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b0, p0), as: __m128i.self)
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b1, p1), toByteOffset: 16, as: __m128i.self)
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b2, p2), toByteOffset: 32, as: __m128i.self)
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b3, p3), toByteOffset: 48, as: __m128i.self)
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b4, p4), toByteOffset: 64, as: __m128i.self)
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b5, p5), toByteOffset: 80, as: __m128i.self)
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b6, p6), toByteOffset: 96, as: __m128i.self)
            unsafe target.storeBytes(of: _mm_aesenclast_si128(b7, p7), toByteOffset: 112, as: __m128i.self)
            hashes = true
            unsafe source += 128
            unsafe target += 128
            unsafe hashed += 128
            rest -= 1
        }
        unsafe counter.storeBytes(of: _mm_shuffle_epi8(next, reversal), as: __m128i.self)
        unsafe state.storeBytes(of: _mm_shuffle_epi8(sum, reversal), as: __m128i.self)
    }

    // As above, with the pre-counter as a ninth block to encrypt, and only as many multiplications as there are blocks.
    @c @implementation
    func roost_gcm_open_tail(
        _ blocks: UnsafeMutableRawPointer, _ block_count: Int, _ counter: UnsafeRawPointer,
        _ pre_counter: UnsafeRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
        _ table: UnsafeRawPointer
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        let table = unsafe table.assumingMemoryBound(to: __m128i.self)
        let reversal = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        let modulus = __m128i(Int64(bitPattern: 0xC200_0000_0000_0000), 0)
        let zero = __m128i(0, 0)
        let one = _mm_set_epi32(0, 0, 0, 1)
        let first = unsafe keys[0]
        var next = unsafe _mm_shuffle_epi8(counter.loadUnaligned(as: __m128i.self), reversal)
        var sum = unsafe _mm_shuffle_epi8(state.loadUnaligned(as: __m128i.self), reversal)
        var mask = unsafe pre_counter.loadUnaligned(as: __m128i.self) ^ first
        var b0 = _mm_shuffle_epi8(next, reversal) ^ first
        next = _mm_add_epi32(next, one)
        var b1 = _mm_shuffle_epi8(next, reversal) ^ first
        next = _mm_add_epi32(next, one)
        var b2 = _mm_shuffle_epi8(next, reversal) ^ first
        next = _mm_add_epi32(next, one)
        var b3 = _mm_shuffle_epi8(next, reversal) ^ first
        next = _mm_add_epi32(next, one)
        var b4 = _mm_shuffle_epi8(next, reversal) ^ first
        next = _mm_add_epi32(next, one)
        var b5 = _mm_shuffle_epi8(next, reversal) ^ first
        next = _mm_add_epi32(next, one)
        var b6 = _mm_shuffle_epi8(next, reversal) ^ first
        next = _mm_add_epi32(next, one)
        var b7 = _mm_shuffle_epi8(next, reversal) ^ first
        var (low, middle, high) = (zero, zero, zero)
        var round = 1
        while round < 14 {
            let key = unsafe keys[round]
            b0 = _mm_aesenc_si128(b0, key)
            b1 = _mm_aesenc_si128(b1, key)
            b2 = _mm_aesenc_si128(b2, key)
            b3 = _mm_aesenc_si128(b3, key)
            b4 = _mm_aesenc_si128(b4, key)
            b5 = _mm_aesenc_si128(b5, key)
            b6 = _mm_aesenc_si128(b6, key)
            b7 = _mm_aesenc_si128(b7, key)
            mask = _mm_aesenc_si128(mask, key)
            // The blocks and their lengths times the powers of the hash key, of which the last is the key itself.
            if round <= block_count + 1 {
                let loaded = unsafe blocks.loadUnaligned(fromByteOffset: 16 * round - 16, as: __m128i.self)
                let block = sum ^ _mm_shuffle_epi8(loaded, reversal)
                sum = zero
                let power = 14 - block_count + round
                unsafe low ^= roost_multiply_low(block, table[power])
                unsafe high ^= roost_multiply_high(block, table[power])
                let folded = block ^ _mm_unpackhi_epi64(block, block)
                unsafe middle ^= roost_multiply_low(folded, table[16 + power])
            }
            round += 1
        }
        middle ^= low ^ high
        let lower = low ^ __m128i(0, middle[0])
        let upper = high ^ __m128i(middle[1], 0)
        let once = __m128i(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
        sum = upper ^ __m128i(once[1], once[0]) ^ roost_multiply_low(once, modulus)
        let last = unsafe keys[14]
        let tag = _mm_shuffle_epi8(sum, reversal) ^ _mm_aesenclast_si128(mask, last)
        unsafe state.storeBytes(of: tag, as: __m128i.self)
        var index = 0
        while index < block_count {
            let p = unsafe blocks.loadUnaligned(fromByteOffset: 16 * index, as: __m128i.self) ^ last
            unsafe blocks.storeBytes(
                of: _mm_aesenclast_si128(b0, p), toByteOffset: 16 * index, as: __m128i.self)
            (b0, b1, b2, b3, b4, b5, b6) = (b1, b2, b3, b4, b5, b6, b7)
            index += 1
        }
    }
#endif

// MARK: - Wide Intel

#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    extension GCMInstructions {
        /// Pairs of batches, two blocks to a register; only where ``Processor/hasWideAES``. Leaves a pair when sealing.
        package static func processPairs(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ pairCount: Int,
            _ counter: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
            _ table: UnsafeRawPointer, isSealing: Bool
        ) {
            unsafe roost_gcm_batches_wide_(output, input, pairCount, counter, state, keys, table, isSealing)
        }
    }

    // As in GCMInstructions+Intel.swift, with sixteen blocks and sixteen powers of the hash key at a time.
    @c @implementation
    func roost_gcm_batches_wide(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batch_count: Int,
        _ counter: UnsafeMutableRawPointer, _ state: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer,
        _ table: UnsafeRawPointer, _ hashes_output: Bool
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        let table = unsafe table.assumingMemoryBound(to: __m256i.self)
        let reversal = _mm256_set_epi8(
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
            13, 14, 15)
        let narrowReversal = _mm256_castsi256_si128(reversal)
        let modulus = __m128i(Int64(bitPattern: 0xC200_0000_0000_0000), 0)
        let zero = _mm256_setzero_si256()
        // The counters of two blocks, the first in the lower half.
        let two = _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2)
        let start = unsafe _mm256_broadcastsi128_si256(counter.loadUnaligned(as: __m128i.self))
        var next = _mm256_add_epi32(
            _mm256_shuffle_epi8(start, reversal), _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0))
        var sum = unsafe _mm_shuffle_epi8(state.loadUnaligned(as: __m128i.self), narrowReversal)
        var source = unsafe input
        var target = unsafe output
        // When sealing, the batch before; the first time there is none.
        var hashed = unsafe hashes_output ? UnsafeRawPointer(output) - 256 : input
        var hashes = !hashes_output
        var rest = batch_count
        while rest > 0 {
            let first = unsafe _mm256_broadcastsi128_si256(keys[0])
            var b0 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var b1 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var b2 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var b3 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var b4 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var b5 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var b6 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var b7 = _mm256_xor_si256(_mm256_shuffle_epi8(next, reversal), first)
            next = _mm256_add_epi32(next, two)
            var round = 1
            if hashes {
                var (low, middle, high) = (zero, zero, zero)
                // The state belongs to the first block.
                var carried = _mm256_set_epi64x(0, 0, sum[1], sum[0])
                while round < 9 {
                    let key = unsafe _mm256_broadcastsi128_si256(keys[round])
                    b0 = _mm256_aesenc_epi128(b0, key)
                    b1 = _mm256_aesenc_epi128(b1, key)
                    b2 = _mm256_aesenc_epi128(b2, key)
                    b3 = _mm256_aesenc_epi128(b3, key)
                    b4 = _mm256_aesenc_epi128(b4, key)
                    b5 = _mm256_aesenc_epi128(b5, key)
                    b6 = _mm256_aesenc_epi128(b6, key)
                    b7 = _mm256_aesenc_epi128(b7, key)
                    let loaded = unsafe hashed.loadUnaligned(
                        fromByteOffset: 32 * round - 32, as: __m256i.self)
                    let blocks = _mm256_xor_si256(carried, _mm256_shuffle_epi8(loaded, reversal))
                    carried = zero
                    let (powers, sums) = unsafe (table[round - 1], table[round + 7])
                    low = _mm256_xor_si256(low, roost_multiply_low_wide(blocks, powers))
                    high = _mm256_xor_si256(high, roost_multiply_high_wide(blocks, powers))
                    let folded = _mm256_xor_si256(blocks, _mm256_unpackhi_epi64(blocks, blocks))
                    middle = _mm256_xor_si256(middle, roost_multiply_low_wide(folded, sums))
                    round += 1
                }
                let (lowSum, highSum) = (roost_add_halves(low), roost_add_halves(high))
                let middleSum = roost_add_halves(middle) ^ lowSum ^ highSum
                let lower = lowSum ^ __m128i(0, middleSum[0])
                let upper = highSum ^ __m128i(middleSum[1], 0)
                let once = __m128i(lower[1], lower[0]) ^ roost_multiply_low(lower, modulus)
                sum = upper ^ __m128i(once[1], once[0]) ^ roost_multiply_low(once, modulus)
            }
            while round < 14 {
                let key = unsafe _mm256_broadcastsi128_si256(keys[round])
                b0 = _mm256_aesenc_epi128(b0, key)
                b1 = _mm256_aesenc_epi128(b1, key)
                b2 = _mm256_aesenc_epi128(b2, key)
                b3 = _mm256_aesenc_epi128(b3, key)
                b4 = _mm256_aesenc_epi128(b4, key)
                b5 = _mm256_aesenc_epi128(b5, key)
                b6 = _mm256_aesenc_epi128(b6, key)
                b7 = _mm256_aesenc_epi128(b7, key)
                round += 1
            }
            let last = unsafe _mm256_broadcastsi128_si256(keys[14])
            let p0 = unsafe _mm256_xor_si256(source.loadUnaligned(as: __m256i.self), last)
            let p1 = unsafe _mm256_xor_si256(source.loadUnaligned(fromByteOffset: 32, as: __m256i.self), last)
            let p2 = unsafe _mm256_xor_si256(source.loadUnaligned(fromByteOffset: 64, as: __m256i.self), last)
            let p3 = unsafe _mm256_xor_si256(source.loadUnaligned(fromByteOffset: 96, as: __m256i.self), last)
            let p4 = unsafe _mm256_xor_si256(
                source.loadUnaligned(fromByteOffset: 128, as: __m256i.self), last)
            let p5 = unsafe _mm256_xor_si256(
                source.loadUnaligned(fromByteOffset: 160, as: __m256i.self), last)
            let p6 = unsafe _mm256_xor_si256(
                source.loadUnaligned(fromByteOffset: 192, as: __m256i.self), last)
            let p7 = unsafe _mm256_xor_si256(
                source.loadUnaligned(fromByteOffset: 224, as: __m256i.self), last)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b0, p0), as: __m256i.self)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b1, p1), toByteOffset: 32, as: __m256i.self)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b2, p2), toByteOffset: 64, as: __m256i.self)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b3, p3), toByteOffset: 96, as: __m256i.self)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b4, p4), toByteOffset: 128, as: __m256i.self)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b5, p5), toByteOffset: 160, as: __m256i.self)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b6, p6), toByteOffset: 192, as: __m256i.self)
            unsafe target.storeBytes(
                of: _mm256_aesenclast_epi128(b7, p7), toByteOffset: 224, as: __m256i.self)
            hashes = true
            unsafe source += 256
            unsafe target += 256
            unsafe hashed += 256
            rest -= 1
        }
        unsafe counter.storeBytes(
            of: _mm256_castsi256_si128(_mm256_shuffle_epi8(next, reversal)), as: __m128i.self)
        unsafe state.storeBytes(of: _mm_shuffle_epi8(sum, narrowReversal), as: __m128i.self)
    }
#endif
