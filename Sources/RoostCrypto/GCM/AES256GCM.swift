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
    package static let maximumByteCount = (1 << 36) - 32

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
        precondition(output.count == plaintext.count + Self.tagByteCount, "The output must have room for the tag.")
        precondition(plaintext.count <= Self.maximumByteCount, "A text for GCM has less than 64 GiB.")
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
        guard byteCount >= 0, byteCount <= Self.maximumByteCount else { throw .length }
        let expected = unsafe Block128(loading: sealed.baseAddress! + byteCount)
        let ciphertext = unsafe UnsafeRawBufferPointer(rebasing: sealed[..<byteCount])
        let tag = unsafe process(ciphertext, output, nonce, associatedData, isSealing: false)
        let difference = tag ^ expected
        guard difference.first | difference.second == 0 else {
            unsafe wipe(output)
            throw .authentication
        }
    }
}

// MARK: - The mode

extension AES256GCM {
    /// Encrypts or decrypts, and returns the tag.
    private func process(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer,
        _ nonce: UnsafeRawBufferPointer, _ associatedData: UnsafeRawBufferPointer, isSealing: Bool
    ) -> Block128 {
        let first = unsafe preCounter(nonce)
        var counter = first.counting(1)
        var state = Block128.zero
        unsafe authenticate(associatedData, &state)
        if let source = input.baseAddress, let target = output.baseAddress {
            let blockCount = input.count / 16
            unsafe processBlocks(source, target, blockCount, &counter, &state, isSealing: isSealing)
            let rest = input.count % 16
            if rest > 0 {
                let done = 16 * blockCount
                unsafe processPart(source + done, target + done, rest, counter, &state, isSealing: isSealing)
            }
        }
        authenticate(bitCounts(associatedData.count, input.count), &state)
        return state ^ cipher.encrypt(first)
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
        authenticate(bitCounts(0, nonce.count), &state)
        return state
    }

    private func bitCounts(_ a: Int, _ b: Int) -> Block128 {
        Block128(bigEndian: UInt64(a) << 3, UInt64(b) << 3)
    }

    private func processBlocks(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ blockCount: Int,
        _ counter: inout Block128, _ state: inout Block128, isSealing: Bool
    ) {
        let table = unsafe UnsafeRawPointer(hashTable.start)
        switch (cipher.usesHardware, isSealing) {
        case (true, true):
            unsafe HardwareGCM.seal(
                source, target, blockCount: blockCount, &counter, &state, cipher.schedule, table)
        case (true, false):
            unsafe HardwareGCM.open(
                source, target, blockCount: blockCount, &counter, &state, cipher.schedule, table)
        case (false, true):
            unsafe PortableGCM.seal(
                source, target, blockCount: blockCount, &counter, &state, cipher.schedule, table)
        case (false, false):
            unsafe PortableGCM.open(
                source, target, blockCount: blockCount, &counter, &state, cipher.schedule, table)
        }
    }

    /// The last 1…15 bytes of a text.
    private func processPart(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ byteCount: Int,
        _ counter: Block128, _ state: inout Block128, isSealing: Bool
    ) {
        let input = unsafe Block128(padding: UnsafeRawBufferPointer(start: source, count: byteCount))
        var output = (input ^ cipher.encrypt(counter)).keepingFirst(byteCount)
        authenticate(isSealing ? output : input, &state)
        unsafe withUnsafeBytes(of: output) {
            unsafe target.copyMemory(from: $0.baseAddress!, byteCount: byteCount)
        }
        wipe(&output)
    }

    /// Takes bytes into GHASH's state, filled up with zeros to whole blocks.
    private func authenticate(_ bytes: UnsafeRawBufferPointer, _ state: inout Block128) {
        guard let start = bytes.baseAddress else { return }
        let blockCount = bytes.count / 16
        if blockCount > 0 { unsafe authenticate(start, blockCount, &state) }
        if bytes.count % 16 > 0 {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[(16 * blockCount)...])
            unsafe authenticate(Block128(padding: rest), &state)
        }
    }

    private func authenticate(_ block: Block128, _ state: inout Block128) {
        unsafe withUnsafeBytes(of: block) { unsafe authenticate($0.baseAddress!, 1, &state) }
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
