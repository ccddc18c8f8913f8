#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    extension AESInstructions {
        /// Counter mode on batches of sixteen blocks, two to a register; only where ``Processor/hasWideAES``.
        package static func applyCounterWide(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batchCount: Int,
            _ counter: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer
        ) {
            unsafe roost_aes_counter_wide_(output, input, batchCount, counter, keys)
        }
    }

    @c @implementation
    func roost_aes_counter_wide(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ batch_count: Int,
        _ counter: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        let reversal = _mm256_set_epi8(
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
            13, 14, 15)
        // The counters of two blocks, the first in the lower half.
        let two = _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2)
        let start = unsafe _mm256_broadcastsi128_si256(counter.loadUnaligned(as: __m128i.self))
        var next = _mm256_add_epi32(
            _mm256_shuffle_epi8(start, reversal), _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0))
        var source = unsafe input
        var target = unsafe output
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
            unsafe source += 256
            unsafe target += 256
            rest -= 1
        }
        unsafe counter.storeBytes(
            of: _mm256_castsi256_si128(_mm256_shuffle_epi8(next, reversal)), as: __m128i.self)
    }
#endif
