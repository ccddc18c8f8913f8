/// Derives keys from passwords by a computation that takes long on purpose (PBKDF2 of RFC 8018 with HMAC).
///
/// OWASP recommends 600,000 rounds with SHA-256 (Password Storage Cheat Sheet, 2023); a random salt of 16 bytes keeps
/// equal passwords from giving equal keys.
package enum PBKDF2 {
    /// Derives with HMAC-SHA-256.
    /// - Parameters:
    ///   - rounds: at least 1; the time taken is proportional to it.
    ///   - byteCount: length of the key, 1 or more; beyond 32 bytes the time is taken once per 32.
    package static func deriveKeyWithSHA256(
        password: SymmetricKey, salt: [UInt8], rounds: Int, byteCount: Int = 32,
        path: ExecutionPath = .hardware
    ) -> SymmetricKey {
        derive(SHA256.self, password, salt, rounds, byteCount, path)
    }

    /// Derives with HMAC-SHA-1, for keys that other programs derived so; beyond 20 bytes the time is taken once per
    /// 20.
    package static func deriveKeyWithSHA1(
        password: SymmetricKey, salt: [UInt8], rounds: Int, byteCount: Int, path: ExecutionPath = .hardware
    ) -> SymmetricKey {
        derive(SHA1.self, password, salt, rounds, byteCount, path)
    }

    private static func derive<Hash: BlockHash>(
        _: Hash.Type, _ password: SymmetricKey, _ salt: [UInt8], _ rounds: Int, _ byteCount: Int,
        _ path: ExecutionPath
    ) -> SymmetricKey {
        precondition(rounds > 0 && byteCount > 0)
        return unsafe SymmetricKey(byteCount: byteCount) { output in
            var number: UInt32 = 1
            for offset in stride(from: 0, to: byteCount, by: Hash.digestByteCount) {
                var code = HMAC<Hash>(key: password, path: path)
                code.update(salt)
                unsafe withUnsafeBytes(of: number.bigEndian) { unsafe code.update($0) }
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: output[offset...])
                let first = SecretMemory(byteCount: Hash.digestByteCount)
                unsafe code.finalize(
                    into: UnsafeMutableRawBufferPointer(start: first.start, count: first.byteCount))
                unsafe HMAC<Hash>(key: password, path: path).withInitialStates { states in
                    unsafe fill(rest, first.start, states, rounds)
                }
                number += 1
            }
        }
    }

    /// Writes one block of output, cut off where `output` ends: the sum of all rounds' codes, of which `code` is the
    /// first. `states` is what the inner and the outer hash begin with.
    ///
    /// Each code is the HMAC of the one before. Both its hashes take just one block, whose padding is always the
    /// same, so the compression function is all there is to compute.
    private static func fill<Hash: BlockHash>(
        _ output: UnsafeMutableRawBufferPointer, _ code: UnsafeRawPointer, _ states: UnsafePointer<Hash>,
        _ rounds: Int
    ) {
        let memory = SecretMemory(byteCount: PendingBlock.blockByteCount + 32)
        let block = unsafe memory.start
        let sum = unsafe memory.start + PendingBlock.blockByteCount
        let digestByteCount = Hash.digestByteCount
        unsafe block.copyMemory(from: code, byteCount: digestByteCount)
        unsafe sum.copyMemory(from: block, byteCount: digestByteCount)
        unsafe block.storeBytes(of: 0x80, toByteOffset: digestByteCount, as: UInt8.self)
        let bitCount = UInt64(PendingBlock.blockByteCount + digestByteCount) * 8
        unsafe block.storeBytes(of: bitCount.bigEndian, toByteOffset: 56, as: UInt64.self)
        let work = SecretMemory(byteCount: MemoryLayout<Hash>.stride)
        let hash = unsafe work.start.bindMemory(to: Hash.self, capacity: 1)
        for _ in 1..<rounds {
            unsafe hash.initialize(to: states[0])
            unsafe hash.pointee.compress(block, blockCount: 1)
            unsafe hash.pointee.storeState(to: block)
            unsafe hash.initialize(to: states[1])
            unsafe hash.pointee.compress(block, blockCount: 1)
            unsafe hash.pointee.storeState(to: block)
            for offset in stride(from: 0, to: digestByteCount, by: 4) {
                let word = unsafe block.load(fromByteOffset: offset, as: UInt32.self)
                let old = unsafe sum.load(fromByteOffset: offset, as: UInt32.self)
                unsafe sum.storeBytes(of: old ^ word, toByteOffset: offset, as: UInt32.self)
            }
        }
        unsafe output.copyMemory(
            from: UnsafeRawBufferPointer(start: sum, count: min(output.count, digestByteCount)))
    }
}
