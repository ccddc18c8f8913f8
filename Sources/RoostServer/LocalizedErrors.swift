import Foundation

// What an app's alerts show of errors is their description, and not what Foundation makes of types that it does not know.

extension TLSError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension SocketError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
