/// Secret bytes: a key, or the material that keys are derived from. Overwritten with zeros when the last reference
/// goes.
///
/// Immutable, so any thread may use it. Printing it shows its length only.
package final class SymmetricKey: Sendable, Equatable, CustomStringConvertible {
    private let memory: SecretMemory

    /// Length in bytes.
    package var byteCount: Int { memory.byteCount }

    /// A key of `byteCount` bytes that `write` fills in; they are zero before.
    package init(byteCount: Int, filledBy write: (UnsafeMutableRawBufferPointer) -> Void) {
        memory = SecretMemory(byteCount: byteCount)
        unsafe write(UnsafeMutableRawBufferPointer(start: memory.start, count: byteCount))
    }

    /// Copies `bytes`; wiping the original is up to the caller.
    package convenience init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.init(byteCount: bytes.count) { unsafe $0.copyMemory(from: bytes) }
    }

    /// Copies `bytes`; the array itself is not wiped.
    package convenience init(_ bytes: [UInt8]) {
        unsafe self.init(byteCount: bytes.count) { unsafe $0.copyBytes(from: bytes) }
    }

    /// All of `keys`, one behind the other.
    package convenience init(joining keys: [SymmetricKey]) {
        unsafe self.init(byteCount: keys.reduce(0) { $0 + $1.byteCount }) { output in
            var offset = 0
            for key in keys {
                unsafe key.withUnsafeBytes {
                    unsafe UnsafeMutableRawBufferPointer(rebasing: output[offset...]).copyMemory(from: $0)
                }
                offset += key.byteCount
            }
        }
    }

    /// The keys of `count` bytes that this one is made of.
    /// - Precondition: it is as long as so many whole ones.
    package func parts(of count: Int) -> [SymmetricKey] {
        precondition(byteCount % count == 0)
        return unsafe withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: count).map {
                unsafe SymmetricKey(UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + count]))
            }
        }
    }

    /// A new random key from the operating system's generator.
    package static func random(byteCount: Int = 32) -> SymmetricKey {
        unsafe SymmetricKey(byteCount: byteCount) { unsafe SystemRandom.fill($0) }
    }

    /// Lends the bytes to `body`, which must not keep the pointer.
    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe try body(UnsafeRawBufferPointer(start: memory.start, count: byteCount))
    }

    /// Compares in a time that depends on the lengths only.
    package static func == (a: SymmetricKey, b: SymmetricKey) -> Bool {
        unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { b in unsafe constantTimeEqual(a, b) } }
    }

    package var description: String { "SymmetricKey (\(byteCount) bytes)" }
}
