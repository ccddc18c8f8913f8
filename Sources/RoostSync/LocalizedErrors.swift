import Foundation

// An app's alerts show the description of these errors, and not Foundation's text for unknown types.

extension TransportError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension RemoteError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension ReplicationProblem: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
