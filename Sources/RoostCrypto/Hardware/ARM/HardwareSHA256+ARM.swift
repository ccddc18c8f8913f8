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
