#if arch(x86_64) || arch(arm64)
    /// AES-256 over runs of whole blocks with the processor's instructions; the same functions as ``PortableAES``.
    enum HardwareAES {
        static func encrypt(_ block: Block128, _ schedule: borrowing KeySchedule) -> Block128 {
            var block = block
            unsafe AESInstructions.encrypt(&block, schedule.standard)
            return block
        }

        static func decrypt(_ block: Block128, _ schedule: borrowing KeySchedule) -> Block128 {
            var result = Block128.zero
            unsafe withUnsafeBytes(of: block) {
                var chain = Block128.zero
                unsafe decryptChain($0.baseAddress!, &result, blockCount: 1, &chain, schedule)
            }
            return result
        }

        static func applyCounter(
            _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
            _ counter: inout Block128, _ schedule: borrowing KeySchedule
        ) {
            unsafe AESInstructions.applyCounter(
                output, input, blockCount, &counter, schedule.standard, isWide: schedule.usesWideInstructions)
        }

        static func encryptChain(
            _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
            _ chain: inout Block128, _ schedule: borrowing KeySchedule
        ) {
            unsafe AESInstructions.encryptChain(output, input, blockCount, &chain, schedule.standard)
        }

        static func decryptChain(
            _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
            _ chain: inout Block128, _ schedule: borrowing KeySchedule
        ) {
            unsafe AESInstructions.decryptChain(output, input, blockCount, &chain, schedule.inverse)
        }

        /// Writes the round keys of decryption to 240 bytes.
        static func invertKeys(_ inverse: UnsafeMutableRawPointer, _ standard: UnsafeRawPointer) {
            unsafe AESInstructions.invertKeys(inverse, standard)
        }
    }
#endif
