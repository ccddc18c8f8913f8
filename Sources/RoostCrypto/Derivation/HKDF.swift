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
        var code = HMAC<SHA256>(key: SymmetricKey(salt))
        unsafe secret.withUnsafeBytes { unsafe code.update($0) }
        return makeKey(code.finalize())
    }

    /// The second step: as many keys for different purposes as there are values of `info`.
    /// - Precondition: `byteCount` is at most ``maximumByteCount``.
    package static func expand(_ secret: SymmetricKey, info: [UInt8], byteCount: Int) -> SymmetricKey {
        precondition(byteCount <= maximumByteCount, "HKDF derives at most 8160 bytes.")
        return unsafe SymmetricKey(byteCount: byteCount) { output in
            var previous: Digest?
            var counter: UInt8 = 1
            for offset in stride(from: 0, to: byteCount, by: 32) {
                var code = HMAC<SHA256>(key: secret)
                if let previous { unsafe previous.withUnsafeBytes { unsafe code.update($0) } }
                code.update(info)
                code.update([counter])
                let block = code.finalize()
                unsafe block.withUnsafeBytes {
                    let part = unsafe UnsafeRawBufferPointer(rebasing: $0[..<min(32, byteCount - offset)])
                    unsafe UnsafeMutableRawBufferPointer(rebasing: output[offset...]).copyMemory(from: part)
                }
                previous = block
                counter &+= 1
            }
            wipe(&previous)
        }
    }

    private static func makeKey(_ digest: consuming Digest) -> SymmetricKey {
        let key = unsafe digest.withUnsafeBytes { unsafe SymmetricKey($0) }
        wipe(&digest)
        return key
    }
}
