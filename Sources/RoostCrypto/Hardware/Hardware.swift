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

// MARK: - HardwareGCM

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

// MARK: - Unavailable

#if !(arch(x86_64) || arch(arm64))
    /// What this processor can do, asked once: nothing, because nothing here is written for its kind.
    enum Processor {
        static let hasAES = false
        static let hasWideAES = false
        static let hasSHA1 = false
        static let hasSHA256 = false
    }

    typealias HardwareAES = PortableAES
    extension PortableAES {
        static func invertKeys(_ inverse: UnsafeMutableRawPointer, _ standard: UnsafeRawPointer) {}
    }

    typealias HardwareGCM = PortableGCM
    typealias HardwareSHA1 = PortableSHA1
    typealias HardwareSHA256 = PortableSHA256
#endif
