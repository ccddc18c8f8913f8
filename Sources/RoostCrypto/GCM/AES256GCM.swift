/// Authenticated encryption: AES-256 in Galois/Counter Mode (NIST SP 800-38D) with tags of 16 bytes.
///
/// Sealed data is the ciphertext followed by the tag, as in RFC 5116. Make one per key and keep it: sealing and
/// opening need no further memory. Immutable, so any thread may use it; all that is derived from the key is wiped
/// when the last reference goes.
///
/// A nonce must never be used twice under one key: the second use betrays both texts and lets others forge.
/// With random nonces of 12 bytes one key is good for 2³² messages.
package final class AES256GCM: Sendable {
    /// Length of the tag that sealing appends, in bytes.
    package static let tagByteCount = 16
    /// The length of nonces that needs no extra work, in bytes.
    package static let nonceByteCount = 12
    /// The greatest length of a text, in bytes.
    package static let maximumByteCount: UInt64 = (1 << 36) - 32

    private let cipher: AES256
    private let hashTable: SecretMemory

    /// Prepares `key`. `path` is for tests and measurements, both give the same results.
    /// - Throws: ``CryptoError/Code/keySize`` unless the key has 32 bytes.
    package init(key: SymmetricKey, path: ExecutionPath = .hardware) throws(CryptoError) {
        cipher = try AES256(key: key, path: path)
        var hashKey = cipher.encrypt(.zero)
        hashTable = SecretMemory(
            byteCount: cipher.usesHardware ? HardwareGCM.tableByteCount : PortableGCM.tableByteCount)
        if cipher.usesHardware {
            unsafe HardwareGCM.prepare(hashKey, hashTable.start)
        } else {
            unsafe PortableGCM.prepare(hashKey, hashTable.start)
        }
        wipe(&hashKey)
    }

    /// Encrypts `plaintext` into `output`, appends the tag, and authenticates `associatedData` along with it.
    ///
    /// `output` may start at the same address as `plaintext`, but must not overlap it otherwise.
    /// - Precondition: `output` has `plaintext.count + 16` bytes, `nonce` is not empty, and the text is not longer
    ///   than ``maximumByteCount``.
    package func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
        nonce: UnsafeRawBufferPointer, authenticating associatedData: UnsafeRawBufferPointer
    ) {
        precondition(
            output.count == plaintext.count + Self.tagByteCount, "The output must have room for the tag.")
        precondition(UInt64(plaintext.count) <= Self.maximumByteCount, "A text for GCM has less than 64 GiB.")
        let text = unsafe UnsafeMutableRawBufferPointer(rebasing: output[..<plaintext.count])
        let tag = unsafe process(plaintext, text, nonce, associatedData, isSealing: true)
        unsafe tag.store(to: output.baseAddress! + plaintext.count)
    }

    /// Decrypts `sealed`, which ends with the tag, into `output`, if it and `associatedData` are what was sealed.
    ///
    /// `output` may start at the same address as `sealed`, but must not overlap it otherwise. After an error it
    /// contains zeros only.
    /// - Precondition: `output` has 16 bytes less than `sealed` (none, if `sealed` is shorter than a tag), and
    ///   `nonce` is not empty.
    /// - Throws: ``CryptoError/Code/authentication`` if anything differs, ``CryptoError/Code/length`` if `sealed` is
    ///   shorter than a tag or longer than any sealed text.
    package func open(
        _ sealed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
        nonce: UnsafeRawBufferPointer, authenticating associatedData: UnsafeRawBufferPointer
    ) throws(CryptoError) {
        let byteCount = sealed.count - Self.tagByteCount
        precondition(output.count == max(byteCount, 0), "The output must be as long as the text.")
        guard byteCount >= 0, UInt64(byteCount) <= Self.maximumByteCount else { throw .length }
        let expected = unsafe Block128(loading: sealed.baseAddress! + byteCount)
        let ciphertext = unsafe UnsafeRawBufferPointer(rebasing: sealed[..<byteCount])
        let tag = unsafe process(ciphertext, output, nonce, associatedData, isSealing: false)
        let difference = tag ^ expected
        guard constantTimeIsZero(difference.first | difference.second) else {
            unsafe wipe(output)
            throw .authentication
        }
    }
}

// MARK: - The mode

extension AES256GCM {
    /// Blocks that the paths process at once, and their bytes.
    private static let batchBlockCount = 8
    private static let batchByteCount = 16 * batchBlockCount

    /// Encrypts or decrypts, and returns the tag.
    private func process(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer,
        _ nonce: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer, isSealing: Bool
    ) -> Block128 {
        let first = unsafe preCounter(nonce)
        var counter = first.counting(1)
        var state = Block128.zero
        unsafe authenticate(associatedData, &state)
        let whole = input.count / Self.batchByteCount * Self.batchByteCount
        if whole > 0 {
            unsafe processBatches(
                input.baseAddress!, output.baseAddress!, whole / Self.batchByteCount, &counter, &state,
                isSealing: isSealing)
        }
        unsafe processTail(
            UnsafeRawBufferPointer(rebasing: input[whole...]),
            UnsafeMutableRawBufferPointer(rebasing: output[whole...]),
            bitCounts(associatedData.count, input.count), counter, first, &state, isSealing: isSealing)
        return state
    }

    /// The counter block for the tag, called J₀ in the standard; the text starts with the one after it.
    private func preCounter(_ nonce: UnsafeRawBufferPointer) -> Block128 {
        precondition(nonce.count > 0, "A nonce must not be empty.")
        if nonce.count == Self.nonceByteCount {
            let start = nonce.baseAddress!
            let first = unsafe start.loadUnaligned(as: UInt64.self)
            let rest = unsafe (start + 8).loadUnaligned(as: UInt32.self)
            return Block128(bigEndian: first.bigEndian, UInt64(rest.bigEndian) << 32 | 1)
        }
        var state = Block128.zero
        unsafe authenticate(nonce, &state)
        let counts = bitCounts(0, nonce.count)
        unsafe withUnsafeBytes(of: counts) { unsafe authenticate($0.baseAddress!, 1, &state) }
        return state
    }

    private func bitCounts(_ a: Int, _ b: Int) -> Block128 {
        Block128(bigEndian: UInt64(a) << 3, UInt64(b) << 3)
    }

    private func processBatches(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ batchCount: Int,
        _ counter: inout Block128, _ state: inout Block128, isSealing: Bool
    ) {
        let table = unsafe UnsafeRawPointer(hashTable.start)
        switch (cipher.usesHardware, isSealing) {
        case (true, true):
            unsafe HardwareGCM.seal(source, target, batchCount, &counter, &state, cipher.schedule, table)
        case (true, false):
            unsafe HardwareGCM.open(source, target, batchCount, &counter, &state, cipher.schedule, table)
        case (false, true):
            unsafe PortableGCM.seal(source, target, batchCount, &counter, &state, cipher.schedule, table)
        case (false, false):
            unsafe PortableGCM.open(source, target, batchCount, &counter, &state, cipher.schedule, table)
        }
    }

    /// The last 0…127 bytes of a text and the lengths, which authentication ends with; makes the state the tag.
    ///
    /// They go through a buffer of whole blocks, so that even the shortest text takes a single pass of either kind.
    private func processTail(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer, _ bitCounts: Block128,
        _ counter: Block128, _ preCounter: Block128, _ state: inout Block128, isSealing: Bool
    ) {
        let blockCount = (input.count + 15) / 16
        var buffer = TailBuffer()
        unsafe withUnsafeMutableBytes(of: &buffer) { bytes in
            let start = bytes.baseAddress!
            unsafe bytes.copyMemory(from: input)
            unsafe bitCounts.store(to: start + 16 * blockCount)
            if isSealing {
                var counter = counter
                unsafe cipher.applyCounter(start, start, blockCount: blockCount, &counter)
                _ = unsafe (start + input.count).initializeMemory(
                    as: UInt8.self, repeating: 0, count: 16 * blockCount - input.count)
                unsafe authenticate(start, blockCount + 1, &state)
                state = state ^ cipher.encrypt(preCounter)
            } else {
                unsafe openTail(start, blockCount, counter, preCounter, &state)
            }
            unsafe output.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<input.count]))
        }
        wipe(&buffer)
    }

    private func openTail(
        _ blocks: UnsafeMutableRawPointer, _ blockCount: Int, _ counter: Block128, _ preCounter: Block128,
        _ state: inout Block128
    ) {
        let table = unsafe UnsafeRawPointer(hashTable.start)
        if cipher.usesHardware {
            unsafe HardwareGCM.openTail(
                blocks, blockCount, counter, preCounter, &state, cipher.schedule, table)
        } else {
            unsafe PortableGCM.openTail(
                blocks, blockCount, counter, preCounter, &state, cipher.schedule, table)
        }
    }

    /// A batch and one block, zero at first.
    private struct TailBuffer: BitwiseCopyable {
        var text = (SIMD64<UInt8>.zero, SIMD64<UInt8>.zero)
        var lengths = SIMD16<UInt8>.zero
    }

    /// Takes bytes into GHASH's state, filled up with zeros to whole blocks.
    private func authenticate(_ bytes: UnsafeRawBufferPointer, _ state: inout Block128) {
        guard let start = bytes.baseAddress else { return }
        let blockCount = bytes.count / 16
        if blockCount > 0 { unsafe authenticate(start, blockCount, &state) }
        if bytes.count % 16 > 0 {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[(16 * blockCount)...])
            let block = unsafe Block128(padding: rest)
            unsafe withUnsafeBytes(of: block) { unsafe authenticate($0.baseAddress!, 1, &state) }
        }
    }

    private func authenticate(_ start: UnsafeRawPointer, _ blockCount: Int, _ state: inout Block128) {
        let table = unsafe UnsafeRawPointer(hashTable.start)
        if cipher.usesHardware {
            unsafe HardwareGCM.authenticate(start, blockCount: blockCount, &state, table)
        } else {
            unsafe PortableGCM.authenticate(start, blockCount: blockCount, &state, table)
        }
    }
}

// MARK: - Keys

extension AES256GCM {
    /// The cipher of a key that was drawn or derived for it.
    /// - Precondition: `key` has 32 bytes.
    package convenience init(derived key: SymmetricKey) {
        do throws(CryptoError) {
            try self.init(key: key)
        } catch {
            preconditionFailure("a derived key has 32 bytes")
        }
    }

    /// `key` encrypted, and the tag.
    package func seal(_ key: SymmetricKey, nonce: [UInt8], authenticating associated: [UInt8]) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: key.byteCount + Self.tagByteCount)
        unsafe key.withUnsafeBytes { text in
            unsafe sealed.withUnsafeMutableBytes { output in
                unsafe nonce.withUnsafeBytes { nonce in
                    unsafe associated.withUnsafeBytes {
                        unsafe seal(text, into: output, nonce: nonce, authenticating: $0)
                    }
                }
            }
        }
        return sealed
    }

    /// The key in `sealed`, which is nowhere in memory that is not wiped; `nil` when anything differs from what was sealed.
    package func open(
        _ sealed: [UInt8], nonce: [UInt8], authenticating associated: [UInt8]
    ) -> SymmetricKey? {
        guard sealed.count >= Self.tagByteCount else { return nil }
        var isRight = false
        let key = unsafe SymmetricKey(byteCount: sealed.count - Self.tagByteCount) { output in
            unsafe sealed.withUnsafeBytes { sealed in
                unsafe nonce.withUnsafeBytes { nonce in
                    unsafe associated.withUnsafeBytes { associated in
                        do throws(CryptoError) {
                            unsafe try open(sealed, into: output, nonce: nonce, authenticating: associated)
                            isRight = true
                        } catch {
                            isRight = false
                        }
                    }
                }
            }
        }
        return isRight ? key : nil
    }
}
