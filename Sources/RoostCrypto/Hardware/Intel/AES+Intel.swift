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

// MARK: - AESCounter

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

// MARK: - Wide Intel

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
