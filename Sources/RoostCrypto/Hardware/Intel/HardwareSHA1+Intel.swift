#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    /// SHA-1's compression function with the SHA extensions; the same function as ``PortableSHA1``.
    ///
    /// Compilers of today fail on it unless the caller stands before the body in the same file and is `package`.
    package enum HardwareSHA1 {
        /// Takes `blockCount` blocks of 64 bytes into the chaining value.
        package static func compress(
            _ state: inout SIMD8<UInt32>, _ blocks: UnsafeRawPointer, blockCount: Int
        ) {
            unsafe roost_sha1_compress_(&state, blocks, blockCount)
        }
    }

    @c @implementation
    func roost_sha1_compress(_ state: UnsafeMutableRawPointer, _ blocks: UnsafeRawPointer, _ block_count: Int)
    {
        let words = unsafe state.assumingMemoryBound(to: Int32.self)
        // The first word goes to the highest place, each word's bytes big-endian: all sixteen bytes reversed.
        let reversal = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        var abcd = unsafe _mm_set_epi32(words[0], words[1], words[2], words[3])
        var e = unsafe _mm_set_epi32(words[4], 0, 0, 0)
        var source = unsafe blocks
        var rest = block_count
        while rest > 0 {
            let (abcdBefore, eBefore) = (abcd, e)
            var w0 = unsafe _mm_shuffle_epi8(source.loadUnaligned(as: __m128i.self), reversal)
            var w1 = unsafe _mm_shuffle_epi8(
                source.loadUnaligned(fromByteOffset: 16, as: __m128i.self), reversal)
            var w2 = unsafe _mm_shuffle_epi8(
                source.loadUnaligned(fromByteOffset: 32, as: __m128i.self), reversal)
            var w3 = unsafe _mm_shuffle_epi8(
                source.loadUnaligned(fromByteOffset: 48, as: __m128i.self), reversal)
            var previous = abcd
            var input = _mm_add_epi32(e, w0)
            var group = 0
            while group < 20 {
                // Four rounds; the next four take their e from the a of now, rotated, which sha1nexte adds to the words.
                previous = abcd
                if group < 5 {
                    abcd = roost_sha1_rounds0(abcd, input)
                } else if group < 10 {
                    abcd = roost_sha1_rounds1(abcd, input)
                } else if group < 15 {
                    abcd = roost_sha1_rounds2(abcd, input)
                } else {
                    abcd = roost_sha1_rounds3(abcd, input)
                }
                let w4 = _mm_sha1msg2_epu32(_mm_sha1msg1_epu32(w0, w1) ^ w2, w3)
                (w0, w1, w2, w3) = (w1, w2, w3, w4)
                input = _mm_sha1nexte_epu32(previous, w0)
                group += 1
            }
            e = _mm_sha1nexte_epu32(previous, eBefore)
            abcd = _mm_add_epi32(abcd, abcdBefore)
            unsafe source += 64
            rest -= 1
        }
        let x = unsafe unsafeBitCast(abcd, to: SIMD4<Int32>.self)
        let y = unsafe unsafeBitCast(e, to: SIMD4<Int32>.self)
        unsafe state.storeBytes(of: SIMD8(x[3], x[2], x[1], x[0], y[3], 0, 0, 0), as: SIMD8<Int32>.self)
    }
#endif
