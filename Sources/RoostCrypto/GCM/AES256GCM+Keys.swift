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
