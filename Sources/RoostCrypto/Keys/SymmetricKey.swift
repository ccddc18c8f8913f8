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

// MARK: - SecretMemory

/// A block of memory for secrets, aligned to a cache line and overwritten with zeros before it is given back.
///
/// Has one owner. What it holds is written while its owner is being initialised and only read afterwards, which is
/// what makes it safe to share between threads.
@safe struct SecretMemory: ~Copyable, Sendable {
    /// The only access to the bytes. Whoever writes through it must not have shared the memory yet.
    nonisolated(unsafe) let start: UnsafeMutableRawPointer
    let byteCount: Int

    /// Allocates `byteCount` zero bytes.
    init(byteCount: Int) {
        self.byteCount = byteCount
        unsafe start = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 64)
        unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit {
        unsafe wipe(UnsafeMutableRawBufferPointer(start: start, count: byteCount))
        unsafe start.deallocate()
    }
}

// MARK: - Wipe

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Overwrites `memory` with zeros, for secrets that are no longer needed.
///
/// An ordinary loop may be left out by the compiler when nothing reads the memory afterwards; the C library's call
/// for this purpose may not.
package func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let start = memory.baseAddress, memory.count > 0 else { return }
    #if canImport(Darwin)
        unsafe memset_s(start, memory.count, 0, memory.count)
    #else
        unsafe explicit_bzero(start, memory.count)
    #endif
}

/// Overwrites a value that held secrets with zeros.
package func wipe<Value: BitwiseCopyable>(_ value: inout Value) {
    unsafe withUnsafeMutableBytes(of: &value) { unsafe wipe($0) }
}

// MARK: - ConstantTime

/// Whether `a` and `b` hold the same bytes, in a time that depends on their lengths only.
///
/// For authentication tags and other values that an attacker may guess byte by byte. Buffers of different lengths
/// are unequal; their lengths are not treated as secret.
package func constantTimeEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    guard a.count == b.count else { return false }
    var difference: UInt8 = 0
    for unsafe(x, y) in unsafe zip(a, b) {
        difference |= x ^ y
    }
    return constantTimeIsZero(UInt64(difference))
}

/// Whether `a` and `b` hold the same bytes, in a time that depends on their lengths only.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { b in unsafe constantTimeEqual(a, b) } }
}

/// Whether `difference` is zero, which it must have been computed to be to its last bit.
///
/// A compiler that sees a sum of differences compared with zero may stop at the first one. So it must not see that: the
/// function is neither inlined nor looked into by its callers' optimisation.
@inline(never) @_optimize(none)
func constantTimeIsZero(_ difference: UInt64) -> Bool { difference == 0 }
