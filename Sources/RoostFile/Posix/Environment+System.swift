extension Environment {
    /// The operating system's files, clocks and randomness.
    package static let system = Environment(
        medium: PosixMedium(), clock: SystemClock(), randomness: SystemRandomness())
}
