import Roost

/// Who asks. Names and roles are compared by their bytes: texts that Unicode calls equivalent are different users.
public struct UserContext: Sendable, Hashable {
    /// The name; `nil` for somebody who has not said.
    public let name: String?
    /// The roles, `_admin` among them for an administrator of the server.
    public let roles: [String]
    /// What the account's password was verified by when the user was identified; `nil` for users that are not identified by an account of
    /// `_users`. Contexts that differ in it alone are equal.
    let credential: [UInt8]?

    /// Somebody of that name with these roles.
    public init(name: String?, roles: [String] = []) {
        self.init(name: name, roles: roles, credential: nil)
    }

    init(name: String?, roles: [String], credential: [UInt8]?) {
        self.name = name
        self.roles = roles
        self.credential = credential
    }

    /// Whether names and roles are the same, byte for byte.
    public static func == (left: Self, right: Self) -> Bool {
        left.name.map { Array($0.utf8) } == right.name.map { Array($0.utf8) } && left.hasRoles(of: right)
    }

    /// Combines what equal users have in common.
    public func hash(into hasher: inout Hasher) { hasher.combine(name.map { Array($0.utf8) }) }

    /// Whether both have the same roles.
    func hasRoles(of other: UserContext) -> Bool {
        roles.map { Array($0.utf8) } == other.roles.map { Array($0.utf8) }
    }

    /// An administrator of the server.
    public static let admin = UserContext(name: nil, roles: ["_admin"])
    /// Somebody who has not said who.
    public static let anonymous = UserContext(name: nil)

    /// Whether this is an administrator of the server.
    public var isAdmin: Bool { roles.contains("_admin") }

    /// What requests of this user, or of a client of that address without a user, are counted under. Of version 6, a client has a
    /// network of 64 bits for itself.
    func owner(from peer: String) -> String {
        if let name { return "user \(name)" }
        return isAdmin ? "administrator" : "peer \(ClientAddress.network(of: peer))"
    }

    /// As functions of design documents see it.
    func json(in database: String) -> JSON {
        [
            "db": .string(database), "name": name.map { .string($0) } ?? .null, "roles": .strings(roles),
        ]
    }

    var json: JSON { ["name": name.map { .string($0) } ?? .null, "roles": .strings(roles)] }
}
