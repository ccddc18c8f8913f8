import Fleece
import Roost
import RoostSync
import RoostWire

/// What every write from outside to `_users`, to `_replicator` and to design documents passes, within the write: whether it is a PUT, a
/// COPY, a bulk request, an attachment, a revision of a replicator, or a replication that this server runs.
struct WriteGate: Sendable {
    /// A revision that is about to be stored.
    struct Revision {
        let id: String
        let properties: FleeceValue
        let isDeleted: Bool
        /// What it replaces: of an edit, the revision it is based on; of one that was made elsewhere, all of its history.
        let parents: [RevisionID]
        /// Whether it was edited here, and is not brought by a replicator.
        let isEdit: Bool
        /// Whether the server has just made the password's record of a new password.
        let hasNewPassword: Bool
    }

    let name: DatabaseName
    let collection: DocumentCollection
    let user: UserContext
    /// Whether the user administers the database.
    let mayDesign: Bool
    let accounts: Accounts

    /// What replications of this server pass, which administrators alone begin.
    static func ofReplications(
        to name: DatabaseName, _ collection: DocumentCollection, _ accounts: Accounts
    ) -> ReplicationGate? {
        guard name.isSystem else { return nil }
        let gate = WriteGate(
            name: name, collection: collection, user: .admin, mayDesign: true, accounts: accounts)
        return { id, properties, isDeleted, history, batch in
            try gate.admit(
                Revision(
                    id: id, properties: properties, isDeleted: isDeleted, parents: history, isEdit: false,
                    hasNewPassword: false), in: batch)
        }
    }

    /// - Throws: 401 or 403 for a design document of a user who does not administer the database.
    func requireDesigner(_ id: String) throws {
        if id.begins(with: "_design/"), !mayDesign {
            throw Security.refusal(user, "You are not a db or server admin.")
        }
    }

    /// - Throws: 401, 403, 404 or 409 for a revision that may not be stored.
    func admit(_ revision: Revision, in batch: WriteTransaction) throws {
        try requireDesigner(revision.id)
        switch name.base {
        case "_users": try UsersDatabase.admit(revision, of: user, in: collection, batch, accounts)
        case ReplicatorManager.databaseName:
            // A replication reaches all databases of the server.
            if !revision.id.begins(with: "_design/") { try Security.requireServerAdmin(user) }
            try ReplicationRoutes.check(revision)
        default: break
        }
    }
}

/// The rules of `_users`: each user its own document, no account with conflicts, and passwords are never stored as they are.
enum UsersDatabase {
    static let prefix = "org.couchdb.user:"

    /// Who may do what in `_users`: administrators all, others only what ``requireOwn(_:_:)`` lets pass.
    static func security(_ target: DatabaseContext) throws -> Security {
        let path = target.context.path
        let isDocument = path.count > 1 && !path[1].begins(with: "_")
        if !target.user.isAdmin, !isDocument {
            throw Security.refusal(target.user, "You are not a server admin.")
        }
        return .standard
    }

    /// - Throws: 404 for another's document, as in CouchDB, so that no user learns which accounts exist.
    static func requireOwn(_ user: UserContext, _ id: String) throws {
        guard !user.isAdmin else { return }
        guard let name = user.name else { throw Security.refusal(user, "") }
        guard id.isIdentical(to: prefix + name) else { throw HTTPFailure.missing }
    }

    // MARK: Before the write

    /// A document of `_users` as it is to be stored: the password turned into what it can be recognised by. What can't be stored anyway
    /// is refused first, since that takes long.
    ///
    /// - Parameter parents: As ``WriteGate/Revision/parents``.
    /// - Throws: 403 `forbidden` for a document that breaks a rule, 404, 409; 503 when too many passwords wait.
    static func prepare(
        _ document: RequestDocument, id: String, parents: [RevisionID], isEdit: Bool, _ gate: WriteGate
    ) async throws -> RequestDocument {
        try requireOwn(gate.user, id)
        guard !id.begins(with: "_") else { return document }
        let value = document.properties.root["password"]
        guard !document.isDeleted, value.exists, value.kind != .null else {
            return value.exists ? try document.replacing(["password"], with: []) : document
        }
        guard let password = value.string else {
            throw HTTPFailure.forbidden("doc.password must be a string")
        }
        let leaves = try gate.collection.snapshot().leaves(of: id)
        if isEdit {
            let isPresent =
                parents.isEmpty
                ? leaves.allSatisfy(\.isDeleted) : leaves.contains { parents.contains($0.id) }
            guard isPresent else { throw HTTPFailure.conflict }
        }
        try checkShape(document.properties.root, id: id)
        try checkBranches(leaves, isDeleted: false, parents, isEdit: isEdit, gate.user)
        let record = try await gate.accounts.record(of: password, for: gate.user)
        var prepared = try document.replacing(["password"], with: record.members)
        prepared.hasNewPassword = true
        return prepared
    }

    /// Creates a user's account, or changes its password, as the user of `context`.
    ///
    /// - Throws: 409 where the account changes meanwhile; 403 where it can be none.
    static func setPassword(_ password: String, of name: String, in context: RequestContext) async throws {
        let served = try Routes.open(try DatabaseName("_users"), context)
        let id = prefix + name
        let old = try served.collection.document(id)
        let empty = try FleeceText.parse(
            JSON.object([("name", .string(name)), ("type", "user"), ("roles", [])]).bytes)
        let account = try old.map { RequestDocument(copying: $0) } ?? RequestDocument(empty.root)
        let target = DatabaseContext(context: context, served: served, security: .standard)
        _ = try await DocumentSaving(target).saveAlone(
            try account.replacing([], with: [("password", .string(password))]), id: id, base: old?.revision)
    }

    // MARK: Within the write

    /// - Throws: 403, 404 or 409 for a revision that may not be stored: see ``WriteGate``.
    static func admit(
        _ revision: WriteGate.Revision, of user: UserContext, in collection: DocumentCollection,
        _ batch: WriteTransaction, _ accounts: Accounts
    ) throws {
        try requireOwn(user, revision.id)
        guard !revision.id.begins(with: "_") else { return }
        let leaves = try batch.leaves(of: revision.id, in: collection)
        try checkBranches(
            leaves, isDeleted: revision.isDeleted, revision.parents, isEdit: revision.isEdit, user)
        let properties = revision.properties
        guard properties["password"].string == nil else {
            throw HTTPFailure.forbidden("A replicated account has a derived key, not a password.")
        }
        guard !revision.isDeleted else { return }
        let name = try checkShape(properties, id: revision.id)
        let old = try batch.document(revision.id, in: collection)
        guard user.isAdmin || old.map({ sameTexts($0["roles"], properties["roles"]) }) == true else {
            throw HTTPFailure.forbidden("Only _admin may set roles")
        }
        if !revision.hasNewPassword { try checkCredentials(properties, old, user, accounts) }
        if old == nil {
            try checkNewName(name, accounts, AccountNameRegister(batch: batch, collection: collection))
        }
    }

    /// - Throws: 403 or 409 where the account would have more live revisions than before, or has conflicts already and the user is no
    ///   administrator: whichever revision wins then may hold what was withdrawn from another.
    private static func checkBranches(
        _ leaves: [RevisionInfo], isDeleted: Bool, _ parents: [RevisionID], isEdit: Bool, _ user: UserContext
    ) throws {
        let live = leaves.filter { !$0.isDeleted }
        let left = live.count { !parents.contains($0.id) }
        guard left + (isDeleted ? 0 : 1) <= max(1, live.count) else {
            throw isEdit ? HTTPFailure.conflict : Self.branching
        }
        guard !user.isAdmin else { return }
        guard live.count == 1 else {
            throw HTTPFailure.forbidden(
                live.isEmpty
                    ? "Only administrators create accounts."
                    : "The account has conflicting revisions. An administrator must delete all but one.")
        }
        guard left == 0 else { throw isEdit ? HTTPFailure.conflict : Self.branching }
    }

    private static let branching = HTTPFailure.forbidden(
        "An account can't have conflicting revisions. Edit the present one.")

    /// - Returns: The name.
    @discardableResult
    private static func checkShape(_ properties: FleeceValue, id: String) throws -> String {
        guard id.begins(with: prefix) else { throw misnamed }
        guard properties["type"].string == "user" else {
            throw HTTPFailure.forbidden("doc.type must be user")
        }
        guard let name = properties["name"].string else {
            throw HTTPFailure.forbidden("doc.name is required")
        }
        guard id.isIdentical(to: prefix + name) else { throw misnamed }
        // Basic authentication ends the name with it.
        guard !name.contains(ascii: ":") else {
            throw HTTPFailure.forbidden("Character `:` is not allowed in usernames.")
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
        return name
    }

    /// The record of a password and what it costs are the server's, not the document's.
    ///
    /// - Throws: 403 where a user who is no administrator changes them, and for a record that permits no log-in.
    private static func checkCredentials(
        _ properties: FleeceValue, _ old: Document?, _ user: UserContext, _ accounts: Accounts
    ) throws {
        let changed = PasswordRecord.names.filter { name in
            properties[name].exists && properties[name].jsonBytes() != old?[name].jsonBytes()
        }
        guard let first = changed.first else { return }
        guard user.isAdmin else {
            throw HTTPFailure.forbidden("Only a new password changes `\(first)`.")
        }
        guard !properties["password_scheme"].exists || accounts.record(properties.dictionary ?? .empty) != nil
        else {
            throw HTTPFailure.forbidden(
                "The password's record must be of the scheme pbkdf2, of sha or sha256, with \(accounts.mostRounds) iterations at most."
            )
        }
    }

    private static func checkNewName(
        _ name: String, _ accounts: Accounts, _ register: AccountNameRegister
    ) throws {
        if let problem = AccountNames.problem(name) { throw HTTPFailure.forbidden(problem) }
        if accounts.resemblesAdministrator(name) {
            throw HTTPFailure.forbidden(
                "The name is taken by an administrator, or is easily taken for one's.")
        }
        if let other = try register.claim(name) {
            throw HTTPFailure.forbidden("The name is easily taken for `\(other)`, which is an account.")
        }
    }

    private static func sameTexts(_ left: FleeceValue, _ right: FleeceValue) -> Bool {
        let (left, right) = (left.array?.map(\.string) ?? [], right.array?.map(\.string) ?? [])
        return left.count == right.count
            && zip(left, right).allSatisfy { ($0 ?? "").isIdentical(to: $1 ?? "") }
    }

    private static let misnamed = HTTPFailure.forbidden("Doc ID must be of the form org.couchdb.user:name")

    /// Whether a user's document may give that role. One with an underscore is the server's to give, but for the one by which
    /// programs read its figures.
    static func mayHave(_ role: String) -> Bool { !role.begins(with: "_") || role == StatisticsRoutes.role }
}
