/// A message that can't be understood, or that is larger than it may be.
public struct WireError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The status that a server answers it with: 400, 413, 414, 431, 501 or 505.
    public let status: Int
    /// What is wrong, as a sentence.
    public let description: String

    /// An error with the status that tells of it.
    public init(_ status: Int, _ description: String) {
        self.status = status
        self.description = description
    }
}
