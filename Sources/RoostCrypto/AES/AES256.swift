/// The block cipher AES with a 256-bit key (FIPS 197), ready for use by the modes of operation.
///
/// Immutable, so any thread may use it; the round keys are wiped when the last reference goes. Making one takes about
/// a microsecond, so keep it as long as the key.
package final class AES256: Sendable {
    /// Length of a key in bytes.
    package static let keyByteCount = KeySchedule.keyByteCount

    let schedule: KeySchedule
    let usesHardware: Bool

    /// Expands `key`. `path` is for tests and measurements, both give the same results.
    /// - Throws: ``CryptoError/Code/keySize`` unless the key has 32 bytes.
    package init(key: SymmetricKey, path: ExecutionPath = .hardware) throws(CryptoError) {
        guard key.byteCount == Self.keyByteCount else { throw .keySize }
        usesHardware = path != .portable && Processor.hasAES
        schedule = KeySchedule(key: key, path: path)
    }

    /// Encrypts a single block. Only modes of operation have a use for it.
    package func encrypt(_ block: Block128) -> Block128 {
        usesHardware ? HardwareAES.encrypt(block, schedule) : PortableAES.encrypt(block, schedule)
    }

    /// Decrypts a single block. Only modes of operation have a use for it.
    package func decrypt(_ block: Block128) -> Block128 {
        usesHardware ? HardwareAES.decrypt(block, schedule) : PortableAES.decrypt(block, schedule)
    }
}
