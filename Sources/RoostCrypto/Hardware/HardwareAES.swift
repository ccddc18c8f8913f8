#if HardwareCrypto && (arch(x86_64) || arch(arm64))
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
        unsafe AESInstructions.applyCounter(output, input, blockCount, &counter, schedule.standard)
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
        // Only CBC needs the round keys of decryption, and making them takes no longer than a block.
        let inverseKeys = SecretMemory(byteCount: 15 * 16)
        unsafe AESInstructions.invertKeys(inverseKeys.start, schedule.standard)
        unsafe AESInstructions.decryptChain(output, input, blockCount, &chain, inverseKeys.start)
    }
}
#endif
