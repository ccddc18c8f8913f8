#if arch(x86_64)
    import _Builtin_intrinsics.intel.sse2

    /// Four successive words of a hash function's message schedule, in an SSE2 register, which every x86-64 processor
    /// has. Lane 0 is the first word.
    struct ScheduleVector {
        private var vector: __m128i

        @inline(__always)
        private init(_ vector: __m128i) { self.vector = vector }

        @inline(__always)
        init(_ lanes: SIMD4<UInt32>) { vector = unsafe unsafeBitCast(lanes, to: __m128i.self) }

        @inline(__always)
        var lanes: SIMD4<UInt32> { unsafe unsafeBitCast(vector, to: SIMD4<UInt32>.self) }

        /// The words at `source`, big-endian and not aligned. Bytes are swapped within halves of words, then halves.
        @inline(__always)
        init(bigEndian source: UnsafeRawPointer) {
            let bytes = unsafe source.loadUnaligned(as: __m128i.self)
            let halves = _mm_or_si128(_mm_slli_epi16(bytes, 8), _mm_srli_epi16(bytes, 8))
            vector = _mm_or_si128(_mm_slli_epi32(halves, 16), _mm_srli_epi32(halves, 16))
        }

        @inline(__always)
        static func ^ (a: Self, b: Self) -> Self { Self(_mm_xor_si128(a.vector, b.vector)) }

        @inline(__always)
        static func &+ (a: Self, b: Self) -> Self { Self(_mm_add_epi32(a.vector, b.vector)) }

        /// Rotates each word to the left by a constant 1…31.
        @inline(__always)
        func rotatedLeft(_ count: Int32) -> Self {
            Self(_mm_or_si128(_mm_slli_epi32(vector, count), _mm_srli_epi32(vector, 32 - count)))
        }

        @inline(__always)
        func shiftedRight(_ count: Int32) -> Self { Self(_mm_srli_epi32(vector, count)) }
    }
#else
    /// Four successive words of a hash function's message schedule. Lane 0 is the first word.
    struct ScheduleVector {
        let lanes: SIMD4<UInt32>

        @inline(__always)
        init(_ lanes: SIMD4<UInt32>) { self.lanes = lanes }

        /// The words at `source`, big-endian and not aligned.
        @inline(__always)
        init(bigEndian source: UnsafeRawPointer) {
            lanes = unsafe SIMD4(
                loadBigEndian(source), loadBigEndian(source + 4), loadBigEndian(source + 8),
                loadBigEndian(source + 12))
        }

        @inline(__always)
        static func ^ (a: Self, b: Self) -> Self { Self(a.lanes ^ b.lanes) }

        @inline(__always)
        static func &+ (a: Self, b: Self) -> Self { Self(a.lanes &+ b.lanes) }

        /// Rotates each word to the left by a constant 1…31.
        @inline(__always)
        func rotatedLeft(_ count: Int32) -> Self {
            let count = UInt32(truncatingIfNeeded: count)
            return Self((lanes &<< SIMD4(repeating: count)) | (lanes &>> SIMD4(repeating: 32 &- count)))
        }

        @inline(__always)
        func shiftedRight(_ count: Int32) -> Self {
            Self(lanes &>> SIMD4(repeating: UInt32(truncatingIfNeeded: count)))
        }
    }
#endif

extension ScheduleVector {
    @inline(__always)
    init(repeating word: UInt32) { self.init(SIMD4(repeating: word)) }

    /// The four words from the second of eight on.
    @inline(__always)
    static func fromSecond(_ a: Self, _ b: Self) -> Self {
        Self(SIMD4(a.lanes[1], a.lanes[2], a.lanes[3], b.lanes[0]))
    }

    /// The four words from the third of eight on.
    @inline(__always)
    static func fromThird(_ a: Self, _ b: Self) -> Self {
        Self(SIMD4(a.lanes[2], a.lanes[3], b.lanes[0], b.lanes[1]))
    }

    @inline(__always)
    func store(to target: UnsafeMutableRawPointer) {
        unsafe target.storeBytes(of: lanes, as: SIMD4<UInt32>.self)
    }
}
