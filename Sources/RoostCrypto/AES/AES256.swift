/// The block cipher AES with a 256-bit key (FIPS 197), ready for use by the modes of operation.
///
/// Immutable, so any thread may use it; the round keys are wiped when the last reference goes. Making one takes about
/// a microsecond, so keep it as long as the key.
package final class AES256: Sendable {
    /// Length of a key in bytes.
    package static let keyByteCount = KeySchedule.keyByteCount

    let schedule: KeySchedule
    let usesHardware: Bool

    /// Expands `key`. `path` is for tests and measurements, both give the same results.
    /// - Throws: ``CryptoError/Code/keySize`` unless the key has 32 bytes.
    package init(key: SymmetricKey, path: ExecutionPath = .hardware) throws(CryptoError) {
        guard key.byteCount == Self.keyByteCount else { throw .keySize }
        usesHardware = path != .portable && Processor.hasAES
        schedule = KeySchedule(key: key, path: path)
    }

    /// Encrypts a single block. Only modes of operation have a use for it.
    package func encrypt(_ block: Block128) -> Block128 {
        usesHardware ? HardwareAES.encrypt(block, schedule) : PortableAES.encrypt(block, schedule)
    }

    /// Decrypts a single block. Only modes of operation have a use for it.
    package func decrypt(_ block: Block128) -> Block128 {
        usesHardware ? HardwareAES.decrypt(block, schedule) : PortableAES.decrypt(block, schedule)
    }
}

// MARK: - Chains

extension AES256 {
    /// Encrypts chains that don't depend on each other, as if each were a ``CBCEncryption`` of its own: without the
    /// processor's instructions several times as fast, because eight are encrypted side by side.
    ///
    /// - Parameters:
    ///   - input: The chains, each of `chainByteCount` bytes, one after another.
    ///   - output: Where they go; the same memory as `input`, or memory that does not overlap it.
    ///   - chainByteCount: A multiple of 16 that divides the length of `input`.
    ///   - initializationVector: That of the chain with the number it is given, from 0 on.
    package func encryptChains(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, chainByteCount: Int,
        initializationVector: (Int) -> Block128
    ) {
        precondition(chainByteCount > 0 && chainByteCount % 16 == 0, "CBC encrypts whole blocks of 16 bytes.")
        precondition(input.count % chainByteCount == 0, "The input must consist of whole chains.")
        precondition(output.count == input.count, "The output must be as long as the input.")
        guard let source = input.baseAddress, let target = output.baseAddress else { return }
        let chainCount = input.count / chainByteCount
        var number = 0
        while !usesHardware, number + 8 <= chainCount {
            let vectors = (
                initializationVector(number), initializationVector(number + 1),
                initializationVector(number + 2), initializationVector(number + 3),
                initializationVector(number + 4), initializationVector(number + 5),
                initializationVector(number + 6), initializationVector(number + 7)
            )
            unsafe PortableAES.encryptEightChains(
                source + number * chainByteCount, target + number * chainByteCount, stride: chainByteCount,
                blockCount: chainByteCount / 16, vectors, schedule)
            number += 8
        }
        for number in number..<chainCount {
            let range = number * chainByteCount..<(number + 1) * chainByteCount
            var chain = CBCEncryption(self, initializationVector: initializationVector(number))
            unsafe chain.encrypt(
                UnsafeRawBufferPointer(rebasing: input[range]),
                into: UnsafeMutableRawBufferPointer(rebasing: output[range]))
        }
    }
}

// MARK: - CBC

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

// MARK: - CTR

extension AES256 {
    /// Counter mode (NIST SP 800-38A, section 6.5): a stream of bytes that is added to the data, so encryption and
    /// decryption are the same. The counter is the whole block as a 128-bit big-endian number.
    ///
    /// It does not notice changes to the data, and two streams under one key must never use the same counter.
    package struct CTR: Sendable {
        private let cipher: AES256
        private var counter: Block128
        /// How many bytes of the counter's keystream block have been used, 0…15.
        private var usedByteCount: Int

        /// A stream that starts with `initialCounter`, continued at `offset` bytes from its start.
        package init(_ cipher: AES256, initialCounter: Block128, offset: UInt64 = 0) {
            self.cipher = cipher
            counter = initialCounter
            counter.increment(by: offset / 16)
            usedByteCount = Int(offset % 16)
        }

        /// Encrypts or decrypts the stream's next bytes.
        ///
        /// `output` may be the same memory as `input`, but must not overlap it otherwise.
        /// - Precondition: `output` has as many bytes as `input`.
        package mutating func apply(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
        ) {
            precondition(output.count == input.count, "The output must be as long as the input.")
            guard let source = input.baseAddress, let target = output.baseAddress else { return }
            var done = 0
            if usedByteCount > 0 {
                done = min(input.count, 16 - usedByteCount)
                unsafe applyPart(source, target, done)
            }
            let blockCount = (input.count - done) / 16
            unsafe applyBlocks(source + done, target + done, blockCount)
            done += 16 * blockCount
            if done < input.count {
                unsafe applyPart(source + done, target + done, input.count - done)
            }
        }

        /// Whole blocks. The paths count in 32 bits, so a run ends where these overflow.
        private mutating func applyBlocks(
            _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ blockCount: Int
        ) {
            var done = 0
            while done < blockCount {
                let untilOverflow = 0x1_0000_0000 - Int(UInt32(truncatingIfNeeded: counter.second.bigEndian))
                let count = min(blockCount - done, untilOverflow)
                var running = counter
                unsafe cipher.applyCounter(
                    source + 16 * done, target + 16 * done, blockCount: count, &running)
                counter.increment(by: UInt64(count))
                done += count
            }
        }

        /// Bytes within the counter's block.
        private mutating func applyPart(
            _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ byteCount: Int
        ) {
            var stream = cipher.encrypt(counter)
            for index in 0..<byteCount {
                let byte = unsafe source.load(fromByteOffset: index, as: UInt8.self)
                unsafe target.storeBytes(
                    of: byte ^ stream[byte: usedByteCount + index], toByteOffset: index, as: UInt8.self)
            }
            wipe(&stream)
            usedByteCount += byteCount
            if usedByteCount == 16 {
                usedByteCount = 0
                counter.increment(by: 1)
            }
        }
    }

    /// Adds the keystream of `blockCount` counters, of which only the last 32 bits count, and leaves the next one.
    func applyCounter(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
        _ counter: inout Block128
    ) {
        if usesHardware {
            unsafe HardwareAES.applyCounter(input, output, blockCount: blockCount, &counter, schedule)
        } else {
            unsafe PortableAES.applyCounter(input, output, blockCount: blockCount, &counter, schedule)
        }
    }
}
