import Foundation

extension DatabaseError: LocalizedError {
    /// The message, for an alert's text.
    public var errorDescription: String? { message }
}
