/// GCM's work on batches of eight blocks in portable code: encryption and authentication one after the other.
enum PortableGCM {
    /// Bytes that ``prepare(_:_:)`` writes.
    static let tableByteCount = PortableGHASH.tableByteCount

    /// Batches encrypted before they are authenticated, few enough to stay in the fastest cache.
    private static let pieceBatchCount = 8

    /// Writes what ``authenticate(_:blockCount:_:_:)`` needs to know of the hash key.
    static func prepare(_ hashKey: Block128, _ table: UnsafeMutableRawPointer) {
        unsafe PortableGHASH.prepare(hashKey, table)
    }

    /// Takes blocks into GHASH's state.
    static func authenticate(
        _ input: UnsafeRawPointer, blockCount: Int, _ state: inout Block128, _ table: UnsafeRawPointer
    ) {
        unsafe PortableGHASH.update(&state, input, blockCount: blockCount, table)
    }

    /// Encrypts batches and takes the ciphertext into GHASH's state.
    static func seal(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, _ batchCount: Int,
        _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
        _ table: UnsafeRawPointer
    ) {
        for first in stride(from: 0, to: batchCount, by: pieceBatchCount) {
            let count = 8 * min(pieceBatchCount, batchCount - first)
            let target = unsafe output + 128 * first
            unsafe PortableAES.applyCounter(
                input + 128 * first, target, blockCount: count, &counter, schedule)
            unsafe PortableGHASH.update(&state, target, blockCount: count, table)
        }
    }

    /// Takes the ciphertext into GHASH's state and decrypts it.
    static func open(
        _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, _ batchCount: Int,
        _ counter: inout Block128, _ state: inout Block128, _ schedule: borrowing KeySchedule,
        _ table: UnsafeRawPointer
    ) {
        for first in stride(from: 0, to: batchCount, by: pieceBatchCount) {
            let count = 8 * min(pieceBatchCount, batchCount - first)
            let source = unsafe input + 128 * first
            unsafe PortableGHASH.update(&state, source, blockCount: count, table)
            unsafe PortableAES.applyCounter(
                source, output + 128 * first, blockCount: count, &counter, schedule)
        }
    }

    /// Ends the opening of a text: takes its last blocks, at most eight, and the one of lengths that follows them into GHASH's
    /// state, decrypts the blocks in place, and adds the encrypted pre-counter, which makes the state the tag.
    static func openTail(
        _ blocks: UnsafeMutableRawPointer, _ blockCount: Int, _ counter: Block128, _ preCounter: Block128,
        _ state: inout Block128, _ schedule: borrowing KeySchedule, _ table: UnsafeRawPointer
    ) {
        unsafe PortableGHASH.update(&state, blocks, blockCount: blockCount + 1, table)
        var counter = counter
        unsafe PortableAES.applyCounter(blocks, blocks, blockCount: blockCount, &counter, schedule)
        state = state ^ PortableAES.encrypt(preCounter, schedule)
    }
}
