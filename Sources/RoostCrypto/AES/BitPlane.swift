/// One bit of each of the 128 bytes in eight AES blocks.
///
/// The bit of a byte stands at place `32·row + 8·column + block` of the state's matrix. Processors differ in the
/// fastest way to hold 128 bits, the operations are the same everywhere.
protocol BitPlane: BitwiseCopyable {
    static func ^ (a: Self, b: Self) -> Self
    static func & (a: Self, b: Self) -> Self

    /// All 64-bit halves equal to `pattern`.
    init(repeating pattern: UInt64)

    /// A block with its matrix transposed: the bytes of row 0 first.
    init(rowsOf block: Block128)

    /// The inverse of ``init(rowsOf:)``.
    var block: Block128 { get }

    /// Shifts within each 64-bit half by a constant.
    func shiftedRight(_ count: Int) -> Self
    func shiftedLeft(_ count: Int) -> Self

    /// Moves each row to the place of the row before it.
    var nextRow: Self { get }
    /// Moves each row to the place of the row two before it.
    var oppositeRow: Self { get }
    /// Moves each column to the place of the column `count` (0…3, a constant) before it.
    func nextColumn(_ count: Int) -> Self
}

#if arch(x86_64) || arch(arm64)
    typealias NativeBitPlane = VectorBitPlane
#else
    typealias NativeBitPlane = ScalarBitPlane
#endif

// MARK: - ScalarBitPlane

/// A bit plane in two integers, for every processor: rows 0 and 1 in `low`, rows 2 and 3 in `high`.
struct ScalarBitPlane: BitPlane {
    var low: UInt64
    var high: UInt64

    @inline(__always)
    init(_ low: UInt64, _ high: UInt64) {
        self.low = low
        self.high = high
    }

    @inline(__always)
    init(repeating pattern: UInt64) { self.init(pattern, pattern) }

    @inline(__always)
    static func ^ (a: Self, b: Self) -> Self { Self(a.low ^ b.low, a.high ^ b.high) }

    @inline(__always)
    static func & (a: Self, b: Self) -> Self { Self(a.low & b.low, a.high & b.high) }

    @inline(__always)
    init(rowsOf block: Block128) {
        self.init(block.first.littleEndian, block.second.littleEndian)
        transpose()
    }

    @inline(__always)
    var block: Block128 {
        var columns = self
        columns.transpose()
        return Block128(first: columns.low.littleEndian, second: columns.high.littleEndian)
    }

    /// Transposes the 4×4 matrix of bytes: first within its quarters, then the quarters.
    @inline(__always)
    private mutating func transpose() {
        low = Self.transposeQuarters(low)
        high = Self.transposeQuarters(high)
        let difference = ((low >> 16) ^ high) & 0x0000_FFFF_0000_FFFF
        high ^= difference
        low ^= difference << 16
    }

    @inline(__always)
    private static func transposeQuarters(_ word: UInt64) -> UInt64 {
        let difference = ((word >> 24) ^ word) & 0x0000_0000_FF00_FF00
        return word ^ difference ^ (difference << 24)
    }

    @inline(__always)
    func shiftedRight(_ count: Int) -> Self { Self(low &>> UInt64(count), high &>> UInt64(count)) }

    @inline(__always)
    func shiftedLeft(_ count: Int) -> Self { Self(low &<< UInt64(count), high &<< UInt64(count)) }

    @inline(__always)
    var nextRow: Self { Self((low >> 32) | (high << 32), (high >> 32) | (low << 32)) }

    @inline(__always)
    var oppositeRow: Self { Self(high, low) }

    @inline(__always)
    func nextColumn(_ count: Int) -> Self {
        if count == 0 { return self }
        let stays = Self(repeating: ((1 << (32 - 8 * UInt64(count))) - 1) &* 0x0000_0001_0000_0001)
        let wraps = Self(repeating: ~stays.low)
        return (shiftedRight(8 * count) & stays) ^ (shiftedLeft(32 - 8 * count) & wraps)
    }
}

// MARK: - VectorBitPlane

#if arch(x86_64)
    import _Builtin_intrinsics.intel.sse2

    /// A bit plane in an SSE2 register, which every x86-64 processor has.
    struct VectorBitPlane: BitPlane {
        private var vector: __m128i

        @inline(__always)
        private init(_ vector: __m128i) { self.vector = vector }

        @inline(__always)
        init(repeating pattern: UInt64) { self.init(_mm_set1_epi64x(Int64(bitPattern: pattern))) }

        @inline(__always)
        static func ^ (a: Self, b: Self) -> Self { Self(_mm_xor_si128(a.vector, b.vector)) }

        @inline(__always)
        static func & (a: Self, b: Self) -> Self { Self(_mm_and_si128(a.vector, b.vector)) }

        @inline(__always)
        init(rowsOf block: Block128) {
            let (first, second) = (Int64(bitPattern: block.first), Int64(bitPattern: block.second))
            self.init(Self.transpose(_mm_set_epi64x(second, first)))
        }

        @inline(__always)
        var block: Block128 {
            let columns = Self.transpose(vector)
            return Block128(first: UInt64(bitPattern: columns[0]), second: UInt64(bitPattern: columns[1]))
        }

        /// Interleaving a matrix's halves rotates the four index bits of its bytes by one; twice exchanges rows with
        /// columns.
        @inline(__always)
        private static func transpose(_ vector: __m128i) -> __m128i {
            let once = _mm_unpacklo_epi8(vector, _mm_unpackhi_epi64(vector, vector))
            return _mm_unpacklo_epi8(once, _mm_unpackhi_epi64(once, once))
        }

        @inline(__always)
        func shiftedRight(_ count: Int) -> Self { Self(_mm_srli_epi64(vector, Int32(count))) }

        @inline(__always)
        func shiftedLeft(_ count: Int) -> Self { Self(_mm_slli_epi64(vector, Int32(count))) }

        @inline(__always)
        var nextRow: Self {
            let rows = unsafe unsafeBitCast(vector, to: SIMD4<UInt32>.self)
            return unsafe Self(unsafeBitCast(SIMD4(rows[1], rows[2], rows[3], rows[0]), to: __m128i.self))
        }

        @inline(__always)
        var oppositeRow: Self { Self(__m128i(vector[1], vector[0])) }

        @inline(__always)
        func nextColumn(_ count: Int) -> Self {
            if count == 0 { return self }
            let stays = _mm_srli_epi32(vector, Int32(8 * count))
            let wrapped = _mm_slli_epi32(vector, Int32(32 - 8 * count))
            return Self(_mm_or_si128(stays, wrapped))
        }
    }
#elseif arch(arm64)
    import _Builtin_intrinsics.arm.neon

    /// A bit plane in a NEON register, which every arm64 processor has.
    struct VectorBitPlane: BitPlane {
        private var vector: uint64x2_t

        @inline(__always)
        private init(_ vector: uint64x2_t) { self.vector = vector }

        @inline(__always)
        private init(bytes: uint8x16_t) { vector = vreinterpretq_u64_u8(bytes) }

        @inline(__always)
        init(repeating pattern: UInt64) { self.init(vdupq_n_u64(pattern)) }

        @inline(__always)
        static func ^ (a: Self, b: Self) -> Self { Self(veorq_u64(a.vector, b.vector)) }

        @inline(__always)
        static func & (a: Self, b: Self) -> Self { Self(vandq_u64(a.vector, b.vector)) }

        @inline(__always)
        init(rowsOf block: Block128) {
            self.init(Self.transpose(uint64x2_t(block.first, block.second)))
        }

        @inline(__always)
        var block: Block128 {
            let columns = Self.transpose(vector)
            return Block128(first: columns[0], second: columns[1])
        }

        /// Interleaving a matrix's halves rotates the four index bits of its bytes by one; twice exchanges rows with
        /// columns.
        @inline(__always)
        private static func transpose(_ vector: uint64x2_t) -> uint64x2_t {
            let bytes = vreinterpretq_u8_u64(vector)
            let once = vzip1q_u8(bytes, vcombine_u8(vget_high_u8(bytes), vget_low_u8(bytes)))
            let twice = vzip1q_u8(once, vcombine_u8(vget_high_u8(once), vget_low_u8(once)))
            return vreinterpretq_u64_u8(twice)
        }

        @inline(__always)
        func shiftedRight(_ count: Int) -> Self { Self(vshlq_u64(vector, vdupq_n_s64(Int64(-count)))) }

        @inline(__always)
        func shiftedLeft(_ count: Int) -> Self { Self(vshlq_u64(vector, vdupq_n_s64(Int64(count)))) }

        @inline(__always)
        var nextRow: Self {
            let rows = vreinterpretq_u32_u64(vector)
            return Self(vreinterpretq_u64_u32(uint32x4_t(rows[1], rows[2], rows[3], rows[0])))
        }

        @inline(__always)
        var oppositeRow: Self { Self(vcombine_u64(vget_high_u64(vector), vget_low_u64(vector))) }

        @inline(__always)
        func nextColumn(_ count: Int) -> Self {
            if count == 0 { return self }
            let rows = vreinterpretq_u32_u64(vector)
            let stays = vshlq_u32(rows, vdupq_n_s32(Int32(-8 * count)))
            let wrapped = vshlq_u32(rows, vdupq_n_s32(Int32(32 - 8 * count)))
            return Self(vreinterpretq_u64_u32(vorrq_u32(stays, wrapped)))
        }
    }
#endif
