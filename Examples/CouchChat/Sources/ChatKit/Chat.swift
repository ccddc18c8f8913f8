import Foundation

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
