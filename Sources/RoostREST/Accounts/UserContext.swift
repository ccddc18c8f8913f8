/// Who asks.
public struct UserContext: Sendable, Hashable {
    /// The name; `nil` for somebody who has not said.
    public let name: String?
    /// The roles, `_admin` among them for an administrator of the server.
    public let roles: [String]

    /// Somebody of that name with these roles.
    public init(name: String?, roles: [String] = []) {
        self.name = name
        self.roles = roles
    }

    /// An administrator of the server.
    public static let admin = UserContext(name: nil, roles: ["_admin"])
    /// Somebody who has not said who.
    public static let anonymous = UserContext(name: nil)

    /// Whether this is an administrator of the server.
    public var isAdmin: Bool { roles.contains("_admin") }

    /// As functions of design documents see it.
    func json(in database: String) -> JSON {
        [
            "db": .string(database), "name": name.map { .string($0) } ?? .null, "roles": .strings(roles),
        ]
    }

    var json: JSON { ["name": name.map { .string($0) } ?? .null, "roles": .strings(roles)] }
}
