/// Why a cryptographic operation was refused.
///
/// Internal to the package: modules above translate it into their own public errors.
package struct CryptoError: Error, Equatable, CustomStringConvertible {
    /// What went wrong.
    package enum Code: Sendable {
        /// The key does not have the length that the algorithm needs.
        case keySize
        /// The authentication tag does not fit: the data, its associated data, the nonce or the key is not what it
        /// was when the data was sealed.
        case authentication
        /// The ciphertext's length cannot have come from this mode of encryption.
        case length
        /// The padding is malformed: the data was changed or the key is wrong.
        case padding
    }

    package let code: Code
    /// A sentence for people.
    package let description: String

    static let keySize = CryptoError(code: .keySize, description: "An AES-256 key has 32 bytes.")
    static let authentication = CryptoError(
        code: .authentication,
        description: "The encrypted data was changed, or it was encrypted with another key.")
    static let length = CryptoError(
        code: .length,
        description: "The encrypted data is cut off: its length is not one that encryption yields.")
    static let padding = CryptoError(
        code: .padding,
        description: "The encrypted data has no valid padding: it was changed, or the key is another one.")
}

// MARK: - ExecutionPath

/// Which code does the work.
package enum ExecutionPath: Sendable, CaseIterable {
    /// Portable code without secret-dependent branches or memory accesses: the reference.
    case portable
    /// The processor's own instructions for AES, GHASH and SHA; where it has none (or the package was built without
    /// the trait `HardwareCrypto`) the same as ``portable``.
    case hardware
    /// The same without the instructions that work on several blocks at once, as on processors that lack these.
    case narrowHardware
}
