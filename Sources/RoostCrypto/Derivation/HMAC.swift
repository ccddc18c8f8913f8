/// A keyed hash that proves where data comes from (RFC 2104, FIPS 198-1), fed piece by piece.
///
/// What is derived from the key is wiped when the value goes.
package struct HMAC<Hash: HashFunction>: ~Copyable, Sendable {
    /// The inner hash as it goes on, then the outer one with the key.
    private let memory: SecretMemory

    /// Nothing authenticated yet. Keys of any length are taken; `path` is for tests and measurements.
    package init(key: SymmetricKey, path: ExecutionPath = .hardware) {
        memory = SecretMemory(byteCount: 2 * MemoryLayout<Hash>.stride)
        unsafe start.initialize(repeating: Hash(path: path), count: 2)
        unsafe key.withUnsafeBytes { unsafe begin(withKey: $0, path: path) }
    }

    private var start: UnsafeMutablePointer<Hash> {
        unsafe memory.start.assumingMemoryBound(to: Hash.self)
    }

    /// Feeds the key, made a block long, to the inner and the outer hash.
    private func begin(withKey key: UnsafeRawBufferPointer, path: ExecutionPath) {
        let block = SecretMemory(byteCount: PendingBlock.blockByteCount)
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: block.start, count: block.byteCount)
        if key.count > bytes.count {
            var long = Hash(path: path)
            unsafe long.update(key)
            var digest = long.finalize()
            unsafe digest.withUnsafeBytes { unsafe bytes.copyMemory(from: $0) }
            wipe(&digest)
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
        let inner = unsafe start[0].finalize()
        var outer = unsafe start[1]
        unsafe inner.withUnsafeBytes { unsafe outer.update($0) }
        return outer.finalize()
    }

    /// The code of `bytes` under `key`.
    package static func authenticate(_ bytes: [UInt8], key: SymmetricKey) -> Digest {
        var code = HMAC(key: key)
        code.update(bytes)
        return code.finalize()
    }

    /// The two hashes that a computation starts from: the inner one first.
    consuming func initialStates() -> (inner: Hash, outer: Hash) {
        unsafe (start[0], start[1])
    }
}
