/// A keyed hash that proves where data comes from (RFC 2104, FIPS 198-1), fed piece by piece.
///
/// What is derived from the key is wiped when the value goes.
package struct HMAC<Hash: HashFunction>: ~Copyable, Sendable {
    /// The inner hash as it goes on, the outer one with the key, and room for a digest. All that is secret stays in here: a
    /// copy of a value would be left on the stack.
    private let memory: SecretMemory

    /// Nothing authenticated yet. Keys of any length are taken; `path` is for tests and measurements.
    package init(key: SymmetricKey, path: ExecutionPath = .hardware) {
        memory = SecretMemory(byteCount: 2 * MemoryLayout<Hash>.stride + Hash.digestByteCount)
        unsafe start.initialize(repeating: Hash(path: path), count: 2)
        unsafe key.withUnsafeBytes { unsafe begin(withKey: $0, path: path) }
    }

    private var start: UnsafeMutablePointer<Hash> {
        unsafe memory.start.assumingMemoryBound(to: Hash.self)
    }

    private var code: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(
            start: memory.start + 2 * MemoryLayout<Hash>.stride, count: Hash.digestByteCount)
    }

    /// Feeds the key, made a block long, to the inner and the outer hash.
    private func begin(withKey key: UnsafeRawBufferPointer, path: ExecutionPath) {
        let block = SecretMemory(byteCount: PendingBlock.blockByteCount)
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: block.start, count: block.byteCount)
        if key.count > bytes.count {
            var long = Hash(path: path)
            unsafe long.update(key)
            unsafe long.finalize(into: bytes.baseAddress!)
            wipe(&long)
        } else {
            unsafe bytes.copyMemory(from: key)
        }
        for index in 0..<bytes.count { unsafe bytes[index] ^= 0x36 }
        unsafe start[0].update(UnsafeRawBufferPointer(bytes))
        for index in 0..<bytes.count { unsafe bytes[index] ^= 0x36 ^ 0x5c }
        unsafe start[1].update(UnsafeRawBufferPointer(bytes))
    }

    /// Authenticates `bytes` after all that came before.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe start[0].update(bytes) }

    /// Authenticates `bytes` after all that came before.
    package mutating func update(_ bytes: [UInt8]) { unsafe start[0].update(bytes) }

    /// The code of everything authenticated. Compare codes with `==`, which takes the same time wherever they differ.
    package consuming func finalize() -> Digest {
        finish()
        return unsafe Digest(byteCount: Hash.digestByteCount) {
            unsafe $0.copyMemory(from: code.baseAddress!, byteCount: code.count)
        }
    }

    /// Writes the code of everything authenticated to the beginning of `output` and nowhere else, for codes that are keys.
    /// As much of it as there is room for.
    package consuming func finalize(into output: UnsafeMutableRawBufferPointer) {
        finish()
        let count = min(output.count, Hash.digestByteCount)
        unsafe output.copyMemory(from: UnsafeRawBufferPointer(rebasing: code[..<count]))
    }

    /// Brings the code to where ``code`` is.
    private func finish() {
        unsafe start[0].finalize(into: code.baseAddress!)
        unsafe start[1].update(UnsafeRawBufferPointer(code))
        unsafe start[1].finalize(into: code.baseAddress!)
    }

    /// The code of `bytes` under `key`.
    package static func authenticate(_ bytes: [UInt8], key: SymmetricKey) -> Digest {
        var code = HMAC(key: key)
        code.update(bytes)
        return code.finalize()
    }

    /// Lends the two hashes that a computation starts from, the inner one first. Nothing may have been authenticated yet.
    borrowing func withInitialStates(_ body: (UnsafePointer<Hash>) -> Void) {
        unsafe body(UnsafePointer(start))
    }
}

// MARK: - HKDF

/// Derives keys from a secret that is already as random as a key: HKDF with SHA-256 (RFC 5869). Passwords are not,
/// they need ``PBKDF2``.
package enum HKDF {
    /// The longest key that can be derived, in bytes.
    package static let maximumByteCount = 255 * 32

    /// A key of `byteCount` bytes, bound to `salt` (random, may be public or empty) and `info` (the key's purpose).
    /// - Precondition: `byteCount` is at most ``maximumByteCount``.
    package static func deriveKey(
        from secret: SymmetricKey, salt: [UInt8], info: [UInt8], byteCount: Int = 32
    ) -> SymmetricKey {
        expand(extract(from: secret, salt: salt), info: info, byteCount: byteCount)
    }

    /// The first step: a secret of any length and distribution made into one of 32 bytes to expand.
    package static func extract(from secret: SymmetricKey, salt: [UInt8]) -> SymmetricKey {
        unsafe SymmetricKey(byteCount: SHA256.digestByteCount) { output in
            var code = HMAC<SHA256>(key: SymmetricKey(salt))
            unsafe secret.withUnsafeBytes { unsafe code.update($0) }
            unsafe code.finalize(into: output)
        }
    }

    /// The second step: as many keys for different purposes as there are values of `info`.
    /// - Precondition: `byteCount` is at most ``maximumByteCount``.
    package static func expand(_ secret: SymmetricKey, info: [UInt8], byteCount: Int) -> SymmetricKey {
        precondition(byteCount <= maximumByteCount, "HKDF derives at most 8160 bytes.")
        return unsafe SymmetricKey(byteCount: byteCount) { output in
            var counter: UInt8 = 1
            for offset in stride(from: 0, to: byteCount, by: SHA256.digestByteCount) {
                var code = HMAC<SHA256>(key: secret)
                // The block before, which is in the output already.
                let start = max(offset - SHA256.digestByteCount, 0)
                unsafe code.update(UnsafeRawBufferPointer(rebasing: output[start..<offset]))
                code.update(info)
                code.update([counter])
                unsafe code.finalize(into: UnsafeMutableRawBufferPointer(rebasing: output[offset...]))
                counter &+= 1
            }
        }
    }
}

// MARK: - PBKDF2

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
