extension AES256 {
    /// Cipher block chaining (NIST SP 800-38A, section 6.2), encryption. For formats that prescribe it: it does not
    /// notice changes to the data.
    package struct CBCEncryption: Sendable {
        private let cipher: AES256
        private var chain: Block128

        /// A chain that starts with an initialisation vector nobody could foresee.
        package init(_ cipher: AES256, initializationVector: Block128) {
            self.cipher = cipher
            chain = initializationVector
        }

        /// Encrypts the chain's next blocks; `output` may be the same memory as `input`, but must not overlap it
        /// otherwise.
        /// - Precondition: `input` consists of whole blocks of 16 bytes, and `output` has as many bytes.
        package mutating func encrypt(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) {
            precondition(input.count % 16 == 0, "CBC encrypts whole blocks of 16 bytes.")
            precondition(output.count == input.count, "The output must be as long as the input.")
            guard let source = input.baseAddress, let target = output.baseAddress else { return }
            let blockCount = input.count / 16
            if cipher.usesHardware {
                unsafe HardwareAES.encryptChain(
                    source, target, blockCount: blockCount, &chain, cipher.schedule)
            } else {
                unsafe PortableAES.encryptChain(
                    source, target, blockCount: blockCount, &chain, cipher.schedule)
            }
        }

        /// Encrypts the chain's last bytes with the padding of PKCS #7 (RFC 5652, section 6.3), which makes
        /// `AES256.paddedByteCount(input.count)` bytes of them; `output` may start at the same address as `input`.
        /// - Precondition: `output` has exactly that size.
        package consuming func finish(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) {
            precondition(
                output.count == paddedByteCount(input.count), "The output must have room for the padding.")
            let whole = input.count / 16 * 16
            let padding = UInt8(16 - input.count % 16)
            var last = unsafe Block128(padding: UnsafeRawBufferPointer(rebasing: input[whole...]))
            for index in input.count % 16..<16 { last[byte: index] = padding }
            unsafe encrypt(
                UnsafeRawBufferPointer(rebasing: input[..<whole]),
                into: UnsafeMutableRawBufferPointer(rebasing: output[..<whole]))
            unsafe withUnsafeBytes(of: last) { last in
                unsafe encrypt(last, into: UnsafeMutableRawBufferPointer(rebasing: output[whole...]))
            }
            wipe(&last)
        }
    }

    /// Cipher block chaining, decryption.
    package struct CBCDecryption: Sendable {
        private let cipher: AES256
        private var chain: Block128

        /// The chain that was encrypted with this initialisation vector.
        package init(_ cipher: AES256, initializationVector: Block128) {
            self.cipher = cipher
            chain = initializationVector
        }

        /// Decrypts the chain's next blocks; `output` may be the same memory as `input`, but must not overlap it
        /// otherwise.
        /// - Precondition: `input` consists of whole blocks of 16 bytes, and `output` has as many bytes.
        package mutating func decrypt(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) {
            precondition(input.count % 16 == 0, "CBC decrypts whole blocks of 16 bytes.")
            precondition(output.count == input.count, "The output must be as long as the input.")
            guard let source = input.baseAddress, let target = output.baseAddress else { return }
            let blockCount = input.count / 16
            if cipher.usesHardware {
                unsafe HardwareAES.decryptChain(
                    source, target, blockCount: blockCount, &chain, cipher.schedule)
            } else {
                unsafe PortableAES.decryptChain(
                    source, target, blockCount: blockCount, &chain, cipher.schedule)
            }
        }

        /// Decrypts the chain's last bytes and returns how many of them are left without the padding; the bytes of
        /// the padding are in `output` as well, which may be the same memory as `input`.
        /// - Precondition: `output` has as many bytes as `input`.
        /// - Throws: ``CryptoError/Code/length`` if `input` is empty or ends within a block,
        ///   ``CryptoError/Code/padding`` if the padding is malformed.
        package consuming func finish(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) throws(CryptoError) -> Int {
            guard input.count > 0, input.count % 16 == 0 else { throw .length }
            unsafe decrypt(input, into: output)
            let padding = unsafe output[output.count - 1]
            // All sixteen bytes are looked at, whatever the padding's length.
            var wrong: UInt8 = padding == 0 || padding > 16 ? 1 : 0
            for index in 1...16 {
                let byte = unsafe output[output.count - index]
                wrong |= index <= Int(padding) ? byte ^ padding : 0
            }
            guard wrong == 0 else { throw .padding }
            return input.count - Int(padding)
        }
    }

    /// How many bytes `byteCount` bytes have when padded by PKCS #7: the next greater multiple of 16.
    package static func paddedByteCount(_ byteCount: Int) -> Int { byteCount / 16 * 16 + 16 }
}
