#if arch(arm64)
    import CRoostHardware
    import _Builtin_intrinsics.arm.neon

    /// AES-256 with the AES instructions of arm64.
    ///
    /// Keys are fifteen round keys of 16 bytes, aligned to 16. An instruction adds the key first and leaves MixColumns to
    /// the next, so the last key is added separately.
    ///
    /// Compilers of today fail on these functions unless the callers stand before the bodies in the same file and are
    /// `package`, and the bodies contain no closures and no functions of their own.
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
        let keys = unsafe keys.assumingMemoryBound(to: uint8x16_t.self)
        var b = unsafe block.loadUnaligned(as: uint8x16_t.self)
        for round in 0..<13 { b = unsafe vaesmcq_u8(vaeseq_u8(b, keys[round])) }
        b = unsafe veorq_u8(vaeseq_u8(b, keys[13]), keys[14])
        unsafe block.storeBytes(of: b, as: uint8x16_t.self)
    }

    @c @implementation
    func roost_aes_invert_keys(_ inverse_keys: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer) {
        let keys = unsafe keys.assumingMemoryBound(to: uint8x16_t.self)
        let inverse = unsafe inverse_keys.assumingMemoryBound(to: uint8x16_t.self)
        unsafe inverse[0] = keys[0]
        for round in 1..<14 { unsafe inverse[round] = vaesimcq_u8(keys[round]) }
        unsafe inverse[14] = keys[14]
    }

    @c @implementation
    func roost_aes_encrypt_chain(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ chain: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: uint8x16_t.self)
        var b = unsafe chain.loadUnaligned(as: uint8x16_t.self)
        for offset in stride(from: 0, to: 16 * block_count, by: 16) {
            b = unsafe veorq_u8(b, input.loadUnaligned(fromByteOffset: offset, as: uint8x16_t.self))
            for round in 0..<13 { b = unsafe vaesmcq_u8(vaeseq_u8(b, keys[round])) }
            b = unsafe veorq_u8(vaeseq_u8(b, keys[13]), keys[14])
            unsafe output.storeBytes(of: b, toByteOffset: offset, as: uint8x16_t.self)
        }
        unsafe chain.storeBytes(of: b, as: uint8x16_t.self)
    }

    @c @implementation
    func roost_aes_decrypt_chain(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ chain: UnsafeMutableRawPointer, _ inverse_keys: UnsafeRawPointer
    ) {
        let keys = unsafe inverse_keys.assumingMemoryBound(to: uint8x16_t.self)
        var previous = unsafe chain.loadUnaligned(as: uint8x16_t.self)
        var source = unsafe input
        var target = unsafe output
        var rest = block_count
        while rest >= 8 {
            let c0 = unsafe source.loadUnaligned(as: uint8x16_t.self)
            let c1 = unsafe source.loadUnaligned(fromByteOffset: 16, as: uint8x16_t.self)
            let c2 = unsafe source.loadUnaligned(fromByteOffset: 32, as: uint8x16_t.self)
            let c3 = unsafe source.loadUnaligned(fromByteOffset: 48, as: uint8x16_t.self)
            let c4 = unsafe source.loadUnaligned(fromByteOffset: 64, as: uint8x16_t.self)
            let c5 = unsafe source.loadUnaligned(fromByteOffset: 80, as: uint8x16_t.self)
            let c6 = unsafe source.loadUnaligned(fromByteOffset: 96, as: uint8x16_t.self)
            let c7 = unsafe source.loadUnaligned(fromByteOffset: 112, as: uint8x16_t.self)
            var (b0, b1, b2, b3) = (c0, c1, c2, c3)
            var (b4, b5, b6, b7) = (c4, c5, c6, c7)
            var round = 14
            while round > 1 {
                let key = unsafe keys[round]
                b0 = vaesimcq_u8(vaesdq_u8(b0, key))
                b1 = vaesimcq_u8(vaesdq_u8(b1, key))
                b2 = vaesimcq_u8(vaesdq_u8(b2, key))
                b3 = vaesimcq_u8(vaesdq_u8(b3, key))
                b4 = vaesimcq_u8(vaesdq_u8(b4, key))
                b5 = vaesimcq_u8(vaesdq_u8(b5, key))
                b6 = vaesimcq_u8(vaesdq_u8(b6, key))
                b7 = vaesimcq_u8(vaesdq_u8(b7, key))
                round -= 1
            }
            let (key, first) = unsafe (keys[1], keys[0])
            b0 = veorq_u8(vaesdq_u8(b0, key), veorq_u8(first, previous))
            b1 = veorq_u8(vaesdq_u8(b1, key), veorq_u8(first, c0))
            b2 = veorq_u8(vaesdq_u8(b2, key), veorq_u8(first, c1))
            b3 = veorq_u8(vaesdq_u8(b3, key), veorq_u8(first, c2))
            b4 = veorq_u8(vaesdq_u8(b4, key), veorq_u8(first, c3))
            b5 = veorq_u8(vaesdq_u8(b5, key), veorq_u8(first, c4))
            b6 = veorq_u8(vaesdq_u8(b6, key), veorq_u8(first, c5))
            b7 = veorq_u8(vaesdq_u8(b7, key), veorq_u8(first, c6))
            unsafe target.storeBytes(of: b0, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b1, toByteOffset: 16, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b2, toByteOffset: 32, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b3, toByteOffset: 48, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b4, toByteOffset: 64, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b5, toByteOffset: 80, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b6, toByteOffset: 96, as: uint8x16_t.self)
            unsafe target.storeBytes(of: b7, toByteOffset: 112, as: uint8x16_t.self)
            previous = c7
            unsafe source += 128
            unsafe target += 128
            rest -= 8
        }
        for offset in stride(from: 0, to: 16 * rest, by: 16) {
            let c = unsafe source.loadUnaligned(fromByteOffset: offset, as: uint8x16_t.self)
            var b = c
            var round = 14
            while round > 1 {
                b = unsafe vaesimcq_u8(vaesdq_u8(b, keys[round]))
                round -= 1
            }
            b = unsafe veorq_u8(vaesdq_u8(b, keys[1]), veorq_u8(keys[0], previous))
            unsafe target.storeBytes(of: b, toByteOffset: offset, as: uint8x16_t.self)
            previous = c
        }
        unsafe chain.storeBytes(of: previous, as: uint8x16_t.self)
    }
#endif

// MARK: - AESCounter

#if arch(arm64)
    import CRoostHardware
    import _Builtin_intrinsics.arm.neon

    extension AESInstructions {
        /// Counter mode, where only the last 32 bits of `counter` count; it is left at the next unused value.
        package static func applyCounter(
            _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ blockCount: Int,
            _ counter: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer, isWide _: Bool
        ) {
            unsafe roost_aes_counter_(output, input, blockCount, counter, keys)
        }
    }

    // Eight blocks at a time, so that one round's instructions do not wait for each other. Fewer than eight take hardly
    // longer than one, so the last batch is computed in full and used in part.
    @c @implementation
    func roost_aes_counter(
        _ output: UnsafeMutableRawPointer, _ input: UnsafeRawPointer, _ block_count: Int,
        _ counter: UnsafeMutableRawPointer, _ keys: UnsafeRawPointer
    ) {
        let keys = unsafe keys.assumingMemoryBound(to: uint8x16_t.self)
        var words = unsafe counter.loadUnaligned(as: uint32x4_t.self)
        let start = UInt32(bigEndian: words[3])
        var number = start
        var source = unsafe input
        var target = unsafe output
        var rest = block_count
        while rest > 0 {
            words[3] = number.bigEndian
            var b0 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b1 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b2 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b3 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b4 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b5 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b6 = vreinterpretq_u8_u32(words)
            number &+= 1
            words[3] = number.bigEndian
            var b7 = vreinterpretq_u8_u32(words)
            number &+= 1
            var round = 0
            while round < 13 {
                let key = unsafe keys[round]
                b0 = vaesmcq_u8(vaeseq_u8(b0, key))
                b1 = vaesmcq_u8(vaeseq_u8(b1, key))
                b2 = vaesmcq_u8(vaeseq_u8(b2, key))
                b3 = vaesmcq_u8(vaeseq_u8(b3, key))
                b4 = vaesmcq_u8(vaeseq_u8(b4, key))
                b5 = vaesmcq_u8(vaeseq_u8(b5, key))
                b6 = vaesmcq_u8(vaeseq_u8(b6, key))
                b7 = vaesmcq_u8(vaeseq_u8(b7, key))
                round += 1
            }
            let (key, last) = unsafe (keys[13], keys[14])
            b0 = veorq_u8(vaeseq_u8(b0, key), last)
            b1 = veorq_u8(vaeseq_u8(b1, key), last)
            b2 = veorq_u8(vaeseq_u8(b2, key), last)
            b3 = veorq_u8(vaeseq_u8(b3, key), last)
            b4 = veorq_u8(vaeseq_u8(b4, key), last)
            b5 = veorq_u8(vaeseq_u8(b5, key), last)
            b6 = veorq_u8(vaeseq_u8(b6, key), last)
            b7 = veorq_u8(vaeseq_u8(b7, key), last)
            if rest >= 8 {
                b0 = unsafe veorq_u8(b0, source.loadUnaligned(as: uint8x16_t.self))
                b1 = unsafe veorq_u8(b1, source.loadUnaligned(fromByteOffset: 16, as: uint8x16_t.self))
                b2 = unsafe veorq_u8(b2, source.loadUnaligned(fromByteOffset: 32, as: uint8x16_t.self))
                b3 = unsafe veorq_u8(b3, source.loadUnaligned(fromByteOffset: 48, as: uint8x16_t.self))
                b4 = unsafe veorq_u8(b4, source.loadUnaligned(fromByteOffset: 64, as: uint8x16_t.self))
                b5 = unsafe veorq_u8(b5, source.loadUnaligned(fromByteOffset: 80, as: uint8x16_t.self))
                b6 = unsafe veorq_u8(b6, source.loadUnaligned(fromByteOffset: 96, as: uint8x16_t.self))
                b7 = unsafe veorq_u8(b7, source.loadUnaligned(fromByteOffset: 112, as: uint8x16_t.self))
                unsafe target.storeBytes(of: b0, as: uint8x16_t.self)
                unsafe target.storeBytes(of: b1, toByteOffset: 16, as: uint8x16_t.self)
                unsafe target.storeBytes(of: b2, toByteOffset: 32, as: uint8x16_t.self)
                unsafe target.storeBytes(of: b3, toByteOffset: 48, as: uint8x16_t.self)
                unsafe target.storeBytes(of: b4, toByteOffset: 64, as: uint8x16_t.self)
                unsafe target.storeBytes(of: b5, toByteOffset: 80, as: uint8x16_t.self)
                unsafe target.storeBytes(of: b6, toByteOffset: 96, as: uint8x16_t.self)
                unsafe target.storeBytes(of: b7, toByteOffset: 112, as: uint8x16_t.self)
                unsafe source += 128
                unsafe target += 128
            } else {
                var index = 0
                while index < rest {
                    let p = unsafe source.loadUnaligned(fromByteOffset: 16 * index, as: uint8x16_t.self)
                    unsafe target.storeBytes(
                        of: veorq_u8(b0, p), toByteOffset: 16 * index, as: uint8x16_t.self)
                    (b0, b1, b2, b3, b4, b5, b6) = (b1, b2, b3, b4, b5, b6, b7)
                    index += 1
                }
            }
            rest -= 8
        }
        words[3] = (start &+ UInt32(truncatingIfNeeded: block_count)).bigEndian
        unsafe counter.storeBytes(of: words, as: uint32x4_t.self)
    }
#endif
