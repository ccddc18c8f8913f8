#if arch(arm64)
    import CRoostHardware

    /// What this processor can do, asked once.
    enum Processor {
        /// AES and the 64-bit polynomial multiplication.
        static let hasAES = capabilities.isSuperset(of: [.aes, .polynomialMultiply])
        /// There are no instructions for several blocks at once.
        static let hasWideAES = false
        static let hasSHA1 = capabilities.contains(.sha1)
        static let hasSHA256 = capabilities.contains(.sha256)

        /// Bits of AT_HWCAP on Linux.
        private struct Capabilities: OptionSet {
            let rawValue: UInt
            static let aes = Capabilities(rawValue: 1 << 3)
            static let polynomialMultiply = Capabilities(rawValue: 1 << 4)
            static let sha1 = Capabilities(rawValue: 1 << 5)
            static let sha256 = Capabilities(rawValue: 1 << 6)
        }

        private static let capabilities: Capabilities = {
            #if canImport(Darwin)
                // Every arm64 processor of Apple's has them.
                return [.aes, .polynomialMultiply, .sha1, .sha256]
            #elseif os(Linux) || os(Android)
                return Capabilities(rawValue: UInt(getauxval(UInt(AT_HWCAP))))
            #else
                return []
            #endif
        }()
    }
#endif

// MARK: - HardwareSHA1

#if arch(arm64)
    import CRoostHardware
    import _Builtin_intrinsics.arm.neon

    /// SHA-1's compression function with the instructions of arm64; the same function as ``PortableSHA1``.
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
        var abcd = unsafe state.loadUnaligned(as: uint32x4_t.self)
        var e = unsafe state.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        var source = unsafe blocks
        var rest = block_count
        while rest > 0 {
            let (abcdBefore, eBefore) = (abcd, e)
            var w0 = unsafe vreinterpretq_u32_u8(vrev32q_u8(source.loadUnaligned(as: uint8x16_t.self)))
            var w1 = unsafe vreinterpretq_u32_u8(
                vrev32q_u8(source.loadUnaligned(fromByteOffset: 16, as: uint8x16_t.self)))
            var w2 = unsafe vreinterpretq_u32_u8(
                vrev32q_u8(source.loadUnaligned(fromByteOffset: 32, as: uint8x16_t.self)))
            var w3 = unsafe vreinterpretq_u32_u8(
                vrev32q_u8(source.loadUnaligned(fromByteOffset: 48, as: uint8x16_t.self)))
            var group = 0
            while group < 20 {
                // Four rounds; the next four take their e from the a of now, rotated.
                let next = vsha1h_u32(abcd[0])
                if group < 5 {
                    abcd = vsha1cq_u32(abcd, e, vaddq_u32(w0, vdupq_n_u32(0x5a82_7999)))
                } else if group < 10 {
                    abcd = vsha1pq_u32(abcd, e, vaddq_u32(w0, vdupq_n_u32(0x6ed9_eba1)))
                } else if group < 15 {
                    abcd = vsha1mq_u32(abcd, e, vaddq_u32(w0, vdupq_n_u32(0x8f1b_bcdc)))
                } else {
                    abcd = vsha1pq_u32(abcd, e, vaddq_u32(w0, vdupq_n_u32(0xca62_c1d6)))
                }
                e = next
                let w4 = vsha1su1q_u32(vsha1su0q_u32(w0, w1, w2), w3)
                (w0, w1, w2, w3) = (w1, w2, w3, w4)
                group += 1
            }
            abcd = vaddq_u32(abcd, abcdBefore)
            e = e &+ eBefore
            unsafe source += 64
            rest -= 1
        }
        unsafe state.storeBytes(of: abcd, as: uint32x4_t.self)
        unsafe state.storeBytes(of: e, toByteOffset: 16, as: UInt32.self)
    }
#endif

// MARK: - HardwareSHA256

#if arch(arm64)
    import CRoostHardware
    import _Builtin_intrinsics.arm.neon

    /// SHA-256's compression function with the instructions of arm64; the same function as ``PortableSHA256``.
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
        var abcd = unsafe state.loadUnaligned(as: uint32x4_t.self)
        var efgh = unsafe state.loadUnaligned(fromByteOffset: 16, as: uint32x4_t.self)
        var source = unsafe blocks
        var rest = block_count
        while rest > 0 {
            let (abcdBefore, efghBefore) = (abcd, efgh)
            var w0 = unsafe vreinterpretq_u32_u8(vrev32q_u8(source.loadUnaligned(as: uint8x16_t.self)))
            var w1 = unsafe vreinterpretq_u32_u8(
                vrev32q_u8(source.loadUnaligned(fromByteOffset: 16, as: uint8x16_t.self)))
            var w2 = unsafe vreinterpretq_u32_u8(
                vrev32q_u8(source.loadUnaligned(fromByteOffset: 32, as: uint8x16_t.self)))
            var w3 = unsafe vreinterpretq_u32_u8(
                vrev32q_u8(source.loadUnaligned(fromByteOffset: 48, as: uint8x16_t.self)))
            var offset = 0
            while offset < 256 {
                // Four rounds, then the four words that take w0's place: the schedule's next but three.
                let key = unsafe constants.loadUnaligned(fromByteOffset: offset, as: uint32x4_t.self)
                let input = vaddq_u32(w0, key)
                let before = abcd
                abcd = vsha256hq_u32(abcd, efgh, input)
                efgh = vsha256h2q_u32(efgh, before, input)
                let w4 = vsha256su1q_u32(vsha256su0q_u32(w0, w1), w2, w3)
                (w0, w1, w2, w3) = (w1, w2, w3, w4)
                offset += 16
            }
            abcd = vaddq_u32(abcd, abcdBefore)
            efgh = vaddq_u32(efgh, efghBefore)
            unsafe source += 64
            rest -= 1
        }
        unsafe state.storeBytes(of: abcd, as: uint32x4_t.self)
        unsafe state.storeBytes(of: efgh, toByteOffset: 16, as: uint32x4_t.self)
    }
#endif
