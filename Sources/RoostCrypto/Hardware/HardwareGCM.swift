#if arch(x86_64) || arch(arm64)
    /// GCM's work on batches of eight blocks with the processor's instructions; the same functions as ``PortableGCM``.
    ///
    /// A batch is encrypted and authenticated at the same time, because the instructions for the two
    /// keep different parts of the processor busy: when sealing, while the next batch is encrypted.
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

        /// Encrypts batches and takes the ciphertext into GHASH's state.
        static func seal(
            _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, _ batchCount: Int,
            _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
            _ table: UnsafeRawPointer
        ) {
            let rest = unsafe GCMInstructions.processBatches(
                output, input, batchCount, &counter, &state, schedule.standard, table, isSealing: true,
                isWide: schedule.usesWideInstructions)
            unsafe GHASHInstructions.update(&state, output + 128 * (batchCount - rest), 8 * rest, table)
        }

        /// Takes the ciphertext into GHASH's state and decrypts it.
        static func open(
            _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, _ batchCount: Int,
            _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
            _ table: UnsafeRawPointer
        ) {
            _ = unsafe GCMInstructions.processBatches(
                output, input, batchCount, &counter, &state, schedule.standard, table, isSealing: false,
                isWide: schedule.usesWideInstructions)
        }

        /// Ends the opening of a text; see ``PortableGCM/openTail(_:_:_:_:_:_:_:)``.
        static func openTail(
            _ blocks: UnsafeMutableRawPointer, _ blockCount: Int, _ counter: Block128, _ preCounter: Block128,
            _ state: inout Block128, _ schedule: borrowing KeySchedule, _ table: UnsafeRawPointer
        ) {
            var (counter, preCounter) = (counter, preCounter)
            unsafe GCMInstructions.openTail(
                blocks, blockCount, &counter, &preCounter, &state, schedule.standard, table)
        }
    }
#endif
