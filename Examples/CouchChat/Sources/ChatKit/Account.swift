import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Who somebody is at which server.
public struct Account: Sendable {
    /// Where the server is, such as `http://127.0.0.1:5985`.
    public let server: URL
    /// The account's name.
    public let name: String
    /// Its password, of eight characters at least.
    public let password: String

    /// An account that is there, or is to be made.
    public init(server: URL, name: String, password: String) {
        self.server = server
        self.name = name
        self.password = password
    }

    /// Why a server gave no account.
    public struct Refusal: LocalizedError, CustomStringConvertible {
        /// The reason.
        public let description: String

        /// The reason.
        public var errorDescription: String? { description }
    }

    /// Makes the account.
    ///
    /// - Throws: ``Refusal`` with the server's reason, as for a name that is taken; an error of the network.
    public func signUp() async throws {
        var request = URLRequest(url: server.appending(path: "_signup"))
        request.httpMethod = "POST"
        request.httpBody = try JSONEncoder().encode(["name": name, "password": password])
        let (answer, response) = try await URLSession.shared.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode != 201 else { return }
        let reason = try? JSONDecoder().decode([String: String].self, from: answer)["reason"]
        throw Refusal(description: reason ?? "The server gave no account.")
    }
}
