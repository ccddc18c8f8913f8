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
