#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    /// SHA-256's compression function with the SHA extensions; the same function as ``PortableSHA256``.
    ///
    /// Compilers of today fail on it unless the caller stands before the body in the same file and is `package`.
    package enum HardwareSHA256 {
        /// Takes `blockCount` blocks of 64 bytes into the chaining value.
        package static func compress(
            _ state: inout SIMD8<UInt32>, _ blocks: UnsafeRawPointer, blockCount: Int
        ) {
            unsafe compress(&state, blocks, blockCount, PortableSHA256.roundConstants)
        }

        package static func compress(
            _ state: UnsafeMutableRawPointer, _ blocks: UnsafeRawPointer, _ blockCount: Int,
            _ constants: UnsafeRawPointer
        ) {
            unsafe roost_sha256_compress_(state, blocks, blockCount, constants)
        }
    }

    @c @implementation
    func roost_sha256_compress(
        _ state: UnsafeMutableRawPointer, _ blocks: UnsafeRawPointer, _ block_count: Int,
        _ constants: UnsafeRawPointer
    ) {
        let words = unsafe state.assumingMemoryBound(to: Int32.self)
        // The bytes of each word reversed.
        let reversal = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)
        // The instructions want the words in this order.
        var abef = unsafe _mm_set_epi32(words[0], words[1], words[4], words[5])
        var cdgh = unsafe _mm_set_epi32(words[2], words[3], words[6], words[7])
        var source = unsafe blocks
        var rest = block_count
        while rest > 0 {
            let (abefBefore, cdghBefore) = (abef, cdgh)
            var w0 = unsafe _mm_shuffle_epi8(source.loadUnaligned(as: __m128i.self), reversal)
            var w1 = unsafe _mm_shuffle_epi8(
                source.loadUnaligned(fromByteOffset: 16, as: __m128i.self), reversal)
            var w2 = unsafe _mm_shuffle_epi8(
                source.loadUnaligned(fromByteOffset: 32, as: __m128i.self), reversal)
            var w3 = unsafe _mm_shuffle_epi8(
                source.loadUnaligned(fromByteOffset: 48, as: __m128i.self), reversal)
            var offset = 0
            while offset < 256 {
                // Four rounds, then the four words that take w0's place: the schedule's next but three.
                let key = unsafe constants.loadUnaligned(fromByteOffset: offset, as: __m128i.self)
                let input = _mm_add_epi32(w0, key)
                cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input)
                abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_unpackhi_epi64(input, input))
                let (x2, x3) = unsafe (
                    unsafeBitCast(w2, to: SIMD4<Int32>.self), unsafeBitCast(w3, to: SIMD4<Int32>.self)
                )
                let sevenBefore = unsafe unsafeBitCast(SIMD4(x2[1], x2[2], x2[3], x3[0]), to: __m128i.self)
                let w4 = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), sevenBefore), w3)
                (w0, w1, w2, w3) = (w1, w2, w3, w4)
                offset += 16
            }
            abef = _mm_add_epi32(abef, abefBefore)
            cdgh = _mm_add_epi32(cdgh, cdghBefore)
            unsafe source += 64
            rest -= 1
        }
        let (x, y) = unsafe (
            unsafeBitCast(abef, to: SIMD4<Int32>.self), unsafeBitCast(cdgh, to: SIMD4<Int32>.self)
        )
        unsafe state.storeBytes(
            of: SIMD8(x[3], x[2], y[3], y[2], x[1], x[0], y[1], y[0]), as: SIMD8<Int32>.self)
    }
#endif
