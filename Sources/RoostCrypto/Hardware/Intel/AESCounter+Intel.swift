#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    extension AESInstructions {
        /// Counter mode, where only the last 32 bits of `counter` count; it is left at the next unused value.
        /// `isWide` allows the instructions of VAES.
        package static func applyCounter(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ blockCount: Int,
            _ counter: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer, isWide: Bool
        ) {
            let done = isWide ? blockCount / 16 * 16 : 0
            if done > 0 { unsafe applyCounterWide(output, input, done / 16, counter, keys) }
            if done < blockCount {
                unsafe roost_aes_counter_(
                    output + 16 * done, input + 16 * done, blockCount - done, counter, keys)
            }
        }
    }

    // Eight blocks at a time, so that one round's instructions do not wait for each other. Fewer than eight take hardly
    // longer than one, so the last batch is computed in full and used in part.
    @c @implementation
    func roost_aes_counter(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ counter: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        let reversal = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        let one = _mm_set_epi32(0, 0, 0, 1)
        var next = unsafe _mm_shuffle_epi8(counter.loadUnaligned(as: __m128i.self), reversal)
        var source = unsafe input
        var target = unsafe output
        var rest = block_count
        while rest > 0 {
            let first = unsafe keys[0]
            var running = next
            var b0 = _mm_shuffle_epi8(running, reversal) ^ first
            running = _mm_add_epi32(running, one)
            var b1 = _mm_shuffle_epi8(running, reversal) ^ first
            running = _mm_add_epi32(running, one)
            var b2 = _mm_shuffle_epi8(running, reversal) ^ first
            running = _mm_add_epi32(running, one)
            var b3 = _mm_shuffle_epi8(running, reversal) ^ first
            running = _mm_add_epi32(running, one)
            var b4 = _mm_shuffle_epi8(running, reversal) ^ first
            running = _mm_add_epi32(running, one)
            var b5 = _mm_shuffle_epi8(running, reversal) ^ first
            running = _mm_add_epi32(running, one)
            var b6 = _mm_shuffle_epi8(running, reversal) ^ first
            running = _mm_add_epi32(running, one)
            var b7 = _mm_shuffle_epi8(running, reversal) ^ first
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
                round += 1
            }
            let last = unsafe keys[14]
            if rest >= 8 {
                // The last round adds its key to the result, so the input is added to the key.
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
                unsafe target.storeBytes(
                    of: _mm_aesenclast_si128(b7, p7), toByteOffset: 112, as: __m128i.self)
                next = _mm_add_epi32(running, one)
                unsafe source += 128
                unsafe target += 128
            } else {
                var index = 0
                while index < rest {
                    let p = unsafe source.loadUnaligned(fromByteOffset: 16 * index, as: __m128i.self) ^ last
                    unsafe target.storeBytes(
                        of: _mm_aesenclast_si128(b0, p), toByteOffset: 16 * index, as: __m128i.self)
                    (b0, b1, b2, b3, b4, b5, b6) = (b1, b2, b3, b4, b5, b6, b7)
                    next = _mm_add_epi32(next, one)
                    index += 1
                }
            }
            rest -= 8
        }
        unsafe counter.storeBytes(of: _mm_shuffle_epi8(next, reversal), as: __m128i.self)
    }
#endif
