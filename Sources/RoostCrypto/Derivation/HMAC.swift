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
