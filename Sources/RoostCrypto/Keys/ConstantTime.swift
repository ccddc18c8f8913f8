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
    return opaque(difference) == 0
}

/// Whether `a` and `b` hold the same bytes, in a time that depends on their lengths only.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    unsafe a.withUnsafeBytes { a in unsafe b.withUnsafeBytes { b in unsafe constantTimeEqual(a, b) } }
}

/// Keeps the optimiser from seeing that a loop's result is only compared with zero, which would permit it to stop at
/// the first difference.
@inline(never)
private func opaque(_ value: UInt8) -> UInt8 { value }
