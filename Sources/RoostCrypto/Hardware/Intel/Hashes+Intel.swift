#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel.cpuid

    /// What this processor can do, asked once.
    enum Processor {
        /// AES-NI, PCLMULQDQ and SSSE3.
        static let hasAES = leaf1.isSuperset(of: [.aes, .carrylessMultiply, .ssse3])
        /// VAES, VPCLMULQDQ and AVX2, with an operating system that saves the registers of 256 bits.
        static let hasWideAES: Bool = {
            guard hasAES, leaf1.isSuperset(of: [.osxsave, .avx]), roost_saved_registers() & 6 == 6 else {
                return false
            }
            let (vaes, vpclmulqdq, avx2): (UInt32, UInt32, UInt32) = (1 << 9, 1 << 10, 1 << 5)
            return leaf7.b & avx2 != 0 && leaf7.c & vaes != 0 && leaf7.c & vpclmulqdq != 0
        }()
        /// The SHA extensions, SSSE3 and SSE4.1.
        static let hasSHA1 = leaf7.b & (1 << 29) != 0 && leaf1.isSuperset(of: [.ssse3, .sse41])
        static let hasSHA256 = hasSHA1

        /// Bits of ECX that CPUID answers to leaf 1.
        private struct Features: OptionSet {
            let rawValue: UInt32
            static let carrylessMultiply = Features(rawValue: 1 << 1)
            static let ssse3 = Features(rawValue: 1 << 9)
            static let sse41 = Features(rawValue: 1 << 19)
            static let aes = Features(rawValue: 1 << 25)
            static let osxsave = Features(rawValue: 1 << 27)
            static let avx = Features(rawValue: 1 << 28)
        }

        private static let leaf1: Features = {
            var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
            return unsafe __get_cpuid(1, &a, &b, &c, &d) == 1 ? Features(rawValue: c) : []
        }()

        /// EBX and ECX that CPUID answers to leaf 7.
        private static let leaf7: (b: UInt32, c: UInt32) = {
            var (a, b, c, d): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
            return unsafe __get_cpuid_count(7, 0, &a, &b, &c, &d) == 1 ? (b, c) : (0, 0)
        }()
    }
#endif

// MARK: - HardwareSHA1

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

// MARK: - HardwareSHA256

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
