import Fleece
import Roost

/// The user of a request. Names and roles are compared by their bytes: texts that Unicode calls equivalent are different users.
public struct UserContext: Sendable, Hashable {
    /// The name; `nil` for a client that has not logged in.
    public let name: String?
    /// The roles, `_admin` among them for an administrator of the server.
    public let roles: [String]
    /// What the account's password was verified by when the user was identified; `nil` for users that are not identified by an account of
    /// `_users`. Contexts that differ in it alone are equal.
    let credential: [UInt8]?

    /// A user of that name with these roles.
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
    /// A client that has not logged in.
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

/// Who may administer a database, and who may use it: CouchDB's `_security`.
struct Security: Sendable {
    /// Names and roles.
    struct Group: Sendable {
        var names: Set<ByteKey> = []
        var roles: Set<ByteKey> = []

        init(roles: [String] = []) { self.roles = Set(roles.map { ByteKey($0) }) }

        init(_ value: FleeceValue) {
            names = Self.texts(value["names"])
            roles = Self.texts(value["roles"])
        }

        var isEmpty: Bool { names.isEmpty && roles.isEmpty }

        func contains(_ user: UserContext) -> Bool {
            user.name.map { names.contains(ByteKey($0)) } == true
                || user.roles.contains { roles.contains(ByteKey($0)) }
        }

        private static func texts(_ value: FleeceValue) -> Set<ByteKey> {
            Set(value.array?.compactMap { $0.string.map { ByteKey($0) } } ?? [])
        }
    }

    var admins: Group
    var members: Group

    /// That of a new database: administrators of the server only, as in CouchDB since 3.0.
    static let standard = Security(admins: Group(roles: ["_admin"]), members: Group(roles: ["_admin"]))
    static let standardText = Array(
        #"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#.utf8)

    private init(admins: Group, members: Group) {
        self.admins = admins
        self.members = members
    }

    init(_ object: FleeceDictionary) {
        admins = Group(object["admins"])
        // What members were called before CouchDB 1.2.
        members = Group(object[object["members"].exists ? "members" : "readers"])
    }

    func isAdmin(_ user: UserContext) -> Bool { user.isAdmin || admins.contains(user) }

    /// Whether a user may read and write documents. Without any names and roles every user may.
    func isMember(_ user: UserContext) -> Bool {
        isAdmin(user) || members.isEmpty || members.contains(user)
    }

    /// - Throws: 401 for a client that has not logged in, 403 for others.
    func requireMember(_ user: UserContext) throws {
        if !isMember(user) { throw Self.refusal(user, "You are not allowed to access this db.") }
    }

    /// - Throws: 401 for a client that has not logged in, 403 for others.
    func requireAdmin(_ user: UserContext) throws {
        if !isAdmin(user) { throw Self.refusal(user, "You are not a db or server admin.") }
    }

    static func refusal(_ user: UserContext, _ reason: String) -> HTTPFailure {
        user.name == nil ? .unauthorized("You are not authorized to access this db.") : .forbidden(reason)
    }

    /// - Throws: 401 for a client that has not logged in, 403 for others.
    static func requireServerAdmin(_ user: UserContext) throws {
        guard !user.isAdmin else { return }
        throw user.name == nil
            ? HTTPFailure.unauthorized("You are not a server admin.")
            : HTTPFailure.forbidden("You are not a server admin.")
    }
}
