import Fleece
import Roost

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

    /// Whether somebody may read and write documents. Without any names and roles everybody may.
    func isMember(_ user: UserContext) -> Bool {
        isAdmin(user) || members.isEmpty || members.contains(user)
    }

    /// - Throws: 401 for somebody without a name, 403 for others.
    func requireMember(_ user: UserContext) throws {
        if !isMember(user) { throw Self.refusal(user, "You are not allowed to access this db.") }
    }

    /// - Throws: 401 for somebody without a name, 403 for others.
    func requireAdmin(_ user: UserContext) throws {
        if !isAdmin(user) { throw Self.refusal(user, "You are not a db or server admin.") }
    }

    static func refusal(_ user: UserContext, _ reason: String) -> HTTPFailure {
        user.name == nil ? .unauthorized("You are not authorized to access this db.") : .forbidden(reason)
    }

    /// - Throws: 401 for somebody without a name, 403 for others.
    static func requireServerAdmin(_ user: UserContext) throws {
        guard !user.isAdmin else { return }
        throw user.name == nil
            ? HTTPFailure.unauthorized("You are not a server admin.")
            : HTTPFailure.forbidden("You are not a server admin.")
    }
}
