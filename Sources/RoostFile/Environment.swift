/// Everything nondeterministic that the engine touches: medium, clock and randomness, handed in as one value.
///
/// Programs use ``Environment/system``; the simulation hands in its own, so that one seed decides everything.
package struct Environment: Sendable {
    package var medium: any Medium
    package var clock: any WallClock
    package var randomness: any Randomness

    package init(medium: any Medium, clock: any WallClock, randomness: any Randomness) {
        self.medium = medium
        self.clock = clock
        self.randomness = randomness
    }
}

/// Tells the time. It may jump in both directions; the engine never orders anything by it.
package protocol WallClock: Sendable {
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    func now() -> UInt64
    /// A clock that never goes back, in microseconds since an arbitrary start; for measuring durations only.
    func monotonic() -> UInt64
}

/// A source of random bytes fit for keys and salts.
package protocol Randomness: Sendable {
    func fill(_ buffer: UnsafeMutableRawBufferPointer)
}
