import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Somebody who takes part.
public struct Person: Codable, Sendable, Hashable, Identifiable {
    /// That of the profile: `profile:` and the name.
    public var id: String
    /// What the others call them.
    public var nick: String

    /// The name of the account.
    public var name: String { String(id.dropFirst("profile:".count)) }
}

/// A room; its ID is that of its document and of the channel of its messages.
public struct Room: Codable, Sendable, Hashable, Identifiable {
    /// The document's name.
    public var id: String
    /// What it is called.
    public var title: String
    /// Who may change the room.
    public var owners: [String]
    /// Who else is in it.
    public var members: [String]?
}

/// Something that was said in a room.
public struct Message: Codable, Sendable, Hashable, Identifiable {
    /// The document's name.
    public var id: String
    /// The name of who said it.
    public var author: String
    /// What was said.
    public var markdown: String
    /// When, in ISO 8601, as the author's clock said.
    public var createdAt: String

    enum CodingKeys: String, CodingKey {
        case id, author, markdown
        case createdAt = "created_at"
    }
}

// MARK: - Account

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
