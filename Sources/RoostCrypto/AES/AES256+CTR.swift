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
