#if HardwareCrypto && (arch(x86_64) || arch(arm64))
/// GCM's work on whole blocks with the processor's instructions; the same functions as ``PortableGCM``.
///
/// Batches of eight blocks are encrypted and authenticated at the same time, because the instructions for the two
/// keep different parts of the processor busy. When sealing, a batch is authenticated while the next is encrypted.
enum HardwareGCM {
    /// Bytes that ``prepare(_:_:)`` writes.
    static let tableByteCount = GHASHInstructions.tableByteCount

    /// Writes what the other functions need to know of the hash key.
    static func prepare(_ hashKey: Block128, _ table: UnsafeMutableRawPointer) {
        var hashKey = hashKey
        unsafe GHASHInstructions.prepare(table, &hashKey)
        wipe(&hashKey)
    }

    /// Takes blocks into GHASH's state.
    static func authenticate(
        _ input: UnsafeRawPointer, blockCount: Int, _ state: inout Block128, _ table: UnsafeRawPointer
    ) {
        unsafe GHASHInstructions.update(&state, input, blockCount, table)
    }

    /// Encrypts blocks and takes the ciphertext into GHASH's state.
    static func seal(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
        _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
        _ table: UnsafeRawPointer
    ) {
        let keys = unsafe schedule.standard
        let batchCount = blockCount / 8
        let rest = blockCount % 8
        let end = 16 * 8 * batchCount
        if batchCount > 0 {
            unsafe GCMInstructions.processBatches(
                output, input, batchCount, &counter, &state, keys, table, isSealing: true)
        }
        if rest > 0 { unsafe AESInstructions.applyCounter(output + end, input + end, rest, &counter, keys) }
        let pending = batchCount > 0 ? 8 : 0
        unsafe GHASHInstructions.update(&state, output + end - 16 * pending, pending + rest, table)
    }

    /// Takes the ciphertext into GHASH's state and decrypts it.
    static func open(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, blockCount: Int,
        _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
        _ table: UnsafeRawPointer
    ) {
        let keys = unsafe schedule.standard
        let batchCount = blockCount / 8
        let rest = blockCount % 8
        let end = 16 * 8 * batchCount
        if batchCount > 0 {
            unsafe GCMInstructions.processBatches(
                output, input, batchCount, &counter, &state, keys, table, isSealing: false)
        }
        if rest > 0 {
            unsafe GHASHInstructions.update(&state, input + end, rest, table)
            unsafe AESInstructions.applyCounter(output + end, input + end, rest, &counter, keys)
        }
    }
}
#endif
