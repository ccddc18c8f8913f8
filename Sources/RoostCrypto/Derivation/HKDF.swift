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
