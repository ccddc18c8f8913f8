import Fleece
import Roost

/// The rules of `_users`: each user its own document, and passwords are never stored as they are.
enum UsersDatabase {
    static let prefix = "org.couchdb.user:"

    /// Who may do what in `_users`: administrators all, others only what ``requireOwn(_:_:)`` lets pass.
    static func security(_ target: DatabaseContext) throws -> Security {
        let path = target.context.path
        let isDocument = path.count > 1 && !path[1].hasPrefix("_")
        if !target.user.isAdmin, !isDocument {
            throw Security.refusal(target.user, "You are not a server admin.")
        }
        return .standard
    }

    /// - Throws: 404 for another's document, as CouchDB does to tell nobody who is there.
    static func requireOwn(_ target: DatabaseContext, _ id: String) throws {
        guard !target.user.isAdmin else { return }
        guard let name = target.user.name else { throw Security.refusal(target.user, "") }
        guard id == prefix + name else { throw HTTPFailure.missing }
    }

    /// A document of `_users` as it is to be stored: the password turned into what it can be known again by.
    ///
    /// - Throws: 403 `forbidden` for a document that breaks a rule.
    static func prepare(
        _ document: IncomingDocument, id: String, user: UserContext, old: Document?, rounds: Int
    ) async throws -> IncomingDocument {
        try check(document, id: id, user: user, old: old)
        let password = document.properties.root["password"].string
        guard let password, !document.isDeleted, !id.hasPrefix("_") else { return document }
        let record = await PasswordRecord.new(password, rounds: rounds)
        return try document.replacing(["password"], with: record.members)
    }

    /// Makes a user's account, or changes its password, as who asks in `context`.
    ///
    /// - Throws: 409 where somebody else changes the account meanwhile; 403 where it can be none.
    static func setPassword(_ password: String, of name: String, in context: RequestContext) async throws {
        let served = try Routes.open(try DatabaseName("_users"), context)
        let id = prefix + name
        let old = try served.collection.get(id)
        let empty = try FleeceText.parse(
            JSON.object([("name", .string(name)), ("type", "user"), ("roles", [])]).bytes)
        let account = try old.map { IncomingDocument(copying: $0) } ?? IncomingDocument(empty.root)
        let target = DatabaseContext(context: context, served: served, security: .standard)
        _ = try await DocumentSaving(target).saveAlone(
            try account.replacing([], with: [("password", .string(password))]), id: id, base: old?.revision)
    }

    private static func check(
        _ document: IncomingDocument, id: String, user: UserContext, old: Document?
    ) throws {
        guard !document.isDeleted, !id.hasPrefix("_") else { return }
        let properties = document.properties.root
        guard id.hasPrefix(prefix) else { throw misnamed }
        guard properties["type"].string == "user" else {
            throw HTTPFailure.forbidden("doc.type must be user")
        }
        guard let name = properties["name"].string else {
            throw HTTPFailure.forbidden("doc.name is required")
        }
        guard id.utf8.elementsEqual((prefix + name).utf8) else { throw misnamed }
        // Whoever logs in by Basic says where the name ends by it.
        guard !name.contains(":") else {
            throw HTTPFailure.forbidden("Character `:` is not allowed in usernames.")
        }
        let password = properties["password"]
        guard !password.exists || password.kind == .string || password.kind == .null else {
            throw HTTPFailure.forbidden("doc.password must be a string")
        }
        let roles = properties["roles"]
        guard roles.exists else { throw HTTPFailure.forbidden("doc.roles must exist") }
        guard let names = roles.array?.map(\.string) else {
            throw HTTPFailure.forbidden("doc.roles must be an array")
        }
        guard !names.contains(nil) else {
            throw HTTPFailure.forbidden("doc.roles can only contain strings")
        }
        guard names.allSatisfy({ $0.map(mayHave) ?? false }) else {
            throw HTTPFailure.forbidden("No system roles (starting with underscore) in users db.")
        }
        guard user.isAdmin || old.map({ $0["roles"] == roles }) ?? names.isEmpty else {
            throw HTTPFailure.forbidden("Only _admin may set roles")
        }
    }

    private static let misnamed = HTTPFailure.forbidden("Doc ID must be of the form org.couchdb.user:name")

    /// Whether a user's document may give that role. One with an underscore is the server's to give, but for the one by which
    /// programs read its figures.
    static func mayHave(_ role: String) -> Bool { !role.hasPrefix("_") || role == StatisticsRoutes.role }
}
