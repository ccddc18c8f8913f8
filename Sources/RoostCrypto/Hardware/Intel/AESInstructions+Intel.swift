#if arch(x86_64)
    import CRoostHardware
    import _Builtin_intrinsics.intel

    /// AES-256 with AES-NI.
    ///
    /// Keys are fifteen round keys of 16 bytes, aligned to 16. Compilers of today fail on these functions unless the
    /// callers stand before the bodies in the same file and are `package`, and the bodies contain no closures and no
    /// functions of their own.
    package enum AESInstructions {
        /// Encrypts one block in place.
        package static func encrypt(_ block: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer) {
            unsafe roost_aes_encrypt_(block, keys)
        }

        /// Writes the round keys of decryption.
        package static func invertKeys(_ inverseKeys: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer) {
            unsafe roost_aes_invert_keys_(inverseKeys, keys)
        }

        /// Encrypts along a chain, which becomes the last block of ciphertext.
        package static func encryptChain(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ blockCount: Int,
            _ chain: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer
        ) {
            unsafe roost_aes_encrypt_chain_(output, input, blockCount, chain, keys)
        }

        /// Decrypts a chain with the keys of ``invertKeys(_:_:)``.
        package static func decryptChain(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ blockCount: Int,
            _ chain: UnsafeMutableRawPointer, _ inverseKeys: UnsafeRawPointer
        ) {
            unsafe roost_aes_decrypt_chain_(output, input, blockCount, chain, inverseKeys)
        }
    }

    @c @implementation
    func roost_aes_encrypt(_ block: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        var b = unsafe block.loadUnaligned(as: __m128i.self) ^ keys[0]
        for round in 1..<14 { b = unsafe _mm_aesenc_si128(b, keys[round]) }
        b = unsafe _mm_aesenclast_si128(b, keys[14])
        unsafe block.storeBytes(of: b, as: __m128i.self)
    }

    @c @implementation
    func roost_aes_invert_keys(_ inverse_keys: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        let inverse = unsafe inverse_keys.assumingMemoryBound(to: __m128i.self)
        unsafe inverse[0] = keys[0]
        for round in 1..<14 { unsafe inverse[round] = _mm_aesimc_si128(keys[round]) }
        unsafe inverse[14] = keys[14]
    }

    @c @implementation
    func roost_aes_encrypt_chain(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ chain: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: __m128i.self)
        var b = unsafe chain.loadUnaligned(as: __m128i.self)
        for offset in stride(from: 0, to: 16 * block_count, by: 16) {
            // The chain waits for the first key only, so the input is added to that.
            b ^= unsafe input.loadUnaligned(fromByteOffset: offset, as: __m128i.self) ^ keys[0]
            for round in 1..<14 { b = unsafe _mm_aesenc_si128(b, keys[round]) }
            b = unsafe _mm_aesenclast_si128(b, keys[14])
            unsafe output.storeBytes(of: b, toByteOffset: offset, as: __m128i.self)
        }
        unsafe chain.storeBytes(of: b, as: __m128i.self)
    }

    @c @implementation
    func roost_aes_decrypt_chain(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ chain: UnsafeMutableRawPointer, _ inverse_keys: UnsafeRawPointer
    ) {
        let keys = unsafe inverse_keys.assumingMemoryBound(to: __m128i.self)
        var previous = unsafe chain.loadUnaligned(as: __m128i.self)
        var source = unsafe input
        var target = unsafe output
        var rest = block_count
        while rest >= 8 {
            let c0 = unsafe source.loadUnaligned(as: __m128i.self)
            let c1 = unsafe source.loadUnaligned(fromByteOffset: 16, as: __m128i.self)
            let c2 = unsafe source.loadUnaligned(fromByteOffset: 32, as: __m128i.self)
            let c3 = unsafe source.loadUnaligned(fromByteOffset: 48, as: __m128i.self)
            let c4 = unsafe source.loadUnaligned(fromByteOffset: 64, as: __m128i.self)
            let c5 = unsafe source.loadUnaligned(fromByteOffset: 80, as: __m128i.self)
            let c6 = unsafe source.loadUnaligned(fromByteOffset: 96, as: __m128i.self)
            let c7 = unsafe source.loadUnaligned(fromByteOffset: 112, as: __m128i.self)
            let last = unsafe keys[14]
            var (b0, b1, b2, b3) = (c0 ^ last, c1 ^ last, c2 ^ last, c3 ^ last)
            var (b4, b5, b6, b7) = (c4 ^ last, c5 ^ last, c6 ^ last, c7 ^ last)
            var round = 13
            while round > 0 {
                let key = unsafe keys[round]
                b0 = _mm_aesdec_si128(b0, key)
                b1 = _mm_aesdec_si128(b1, key)
                b2 = _mm_aesdec_si128(b2, key)
                b3 = _mm_aesdec_si128(b3, key)
                b4 = _mm_aesdec_si128(b4, key)
                b5 = _mm_aesdec_si128(b5, key)
                b6 = _mm_aesdec_si128(b6, key)
                b7 = _mm_aesdec_si128(b7, key)
                round -= 1
            }
            let first = unsafe keys[0]
            unsafe target.storeBytes(of: _mm_aesdeclast_si128(b0, first ^ previous), as: __m128i.self)
            unsafe target.storeBytes(
                of: _mm_aesdeclast_si128(b1, first ^ c0), toByteOffset: 16, as: __m128i.self)
            unsafe target.storeBytes(
                of: _mm_aesdeclast_si128(b2, first ^ c1), toByteOffset: 32, as: __m128i.self)
            unsafe target.storeBytes(
                of: _mm_aesdeclast_si128(b3, first ^ c2), toByteOffset: 48, as: __m128i.self)
            unsafe target.storeBytes(
                of: _mm_aesdeclast_si128(b4, first ^ c3), toByteOffset: 64, as: __m128i.self)
            unsafe target.storeBytes(
                of: _mm_aesdeclast_si128(b5, first ^ c4), toByteOffset: 80, as: __m128i.self)
            unsafe target.storeBytes(
                of: _mm_aesdeclast_si128(b6, first ^ c5), toByteOffset: 96, as: __m128i.self)
            unsafe target.storeBytes(
                of: _mm_aesdeclast_si128(b7, first ^ c6), toByteOffset: 112, as: __m128i.self)
            previous = c7
            unsafe source += 128
            unsafe target += 128
            rest -= 8
        }
        for offset in stride(from: 0, to: 16 * rest, by: 16) {
            let c = unsafe source.loadUnaligned(fromByteOffset: offset, as: __m128i.self)
            var b = unsafe c ^ keys[14]
            var round = 13
            while round > 0 {
                b = unsafe _mm_aesdec_si128(b, keys[round])
                round -= 1
            }
            b = unsafe _mm_aesdeclast_si128(b, keys[0] ^ previous)
            unsafe target.storeBytes(of: b, toByteOffset: offset, as: __m128i.self)
            previous = c
        }
        unsafe chain.storeBytes(of: previous, as: __m128i.self)
    }
#endif
