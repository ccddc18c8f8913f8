/// What becomes of the changes that no sync had covered when the power went.
package enum CrashFate: Sendable {
    /// A pattern and then each change's fate are drawn from the disk's seed.
    case random
    /// All are lost: the hardest test of whether the syncs suffice.
    case losesAll
    /// All reached the medium.
    case keepsAll
}

/// How small the pieces are that a crash can make of a write.
package enum Tearing: Sendable {
    /// Sectors of 512 bytes are written whole or not at all, which drives promise.
    case sectors
    /// Now and then a sector is torn too, any of its bytes old and any new, which is worse than drives do.
    case bytes
}
