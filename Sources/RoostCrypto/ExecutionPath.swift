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
