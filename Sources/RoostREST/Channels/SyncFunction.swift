import Fleece
import Foundation
import Roost
import RoostCrypto
import RoostWire

/// Decides what becomes of each document that is written from outside: whether it is saved, in which channels it stands, and whom it
/// gives access to channels. Sync Gateway's sync function.
///
/// ```swift
/// hooks.sync = SyncFunction { document, old, sync in
///     if let old { try sync.requireUser(old["owner"].string ?? "") }
///     sync.channel("ch-\(document["room"].string ?? "")")
/// }
/// ```
///
/// Who is no administrator then sees the documents of the channels they have access to and nothing else; see ``Hooks/sync``.
public struct SyncFunction: Sendable {
    /// Looks at `document` and tells `sync` what is to become of it; throws a ``ValidationFailure`` to refuse it. `old` is what is there,
    /// `nil` where nothing is, it is deleted, or the user does not see the whole document. Any other error refuses the document, too.
    /// Called before the write, and once more where what it was shown has changed meanwhile.
    public typealias Body =
        @Sendable (_ document: ExaminedDocument, _ old: Document?, _ sync: inout SyncDecision) throws -> Void

    /// Decides on what is asked.
    package typealias Decide = @Sendable (SyncQuestion, inout SyncDecision) throws -> Void

    /// Distinguishes the function from earlier ones: documents that another one decided on are routed again.
    public let version: String
    let decide: Decide

    /// A function in Swift.
    ///
    /// - Parameters:
    ///   - version: To be changed whenever the function comes to decide otherwise.
    ///   - body: What decides.
    public init(version: String = "1", _ body: @escaping Body) {
        self.version = version
        decide = { question, decision in try body(question.document, question.old, &decision) }
    }

    /// A function in another language, whose version is its text's digest.
    package init(source: String, deciding decide: @escaping Decide) {
        version = RandomText.text(Array(SHA256.hash(Array(source.utf8)).bytes.prefix(8)))
        self.decide = decide
    }
}

/// What a sync function is asked.
package struct SyncQuestion {
    /// What functions are shown of a document besides its properties.
    package static let metadata: DocumentMetadata = [
        .id, .revision, .attachments, .md5Digests, .revisions,
    ]

    /// The document that is to be saved.
    package let document: ExaminedDocument
    /// What is there; `nil` where nothing is or it is deleted.
    package let old: Document?
    /// Makes the JSON of the document that is to be saved, with its `_id`, and `_rev` and `_revisions` where it has any.
    package let text: () throws -> [UInt8]
    /// Makes the JSON of what is there, with its `_id`, `_rev` and `_revisions`.
    package let oldText: () throws -> [UInt8]?
    /// The database's name.
    package let database: String
    /// The collection that the document is in.
    package let collection: DocumentCollection
    /// The database's security object, as JSON.
    package let security: [UInt8]
}

/// What a sync function decides on one document, and what it can ask about who writes it.
///
/// The names of channels, users and roles have 1 to 200 bytes, in Unicode's normal form C. In the place of a user, `role:NAME` stands for
/// all who have a role. A document may stand in 1,000 channels and give 10,000 grants.
public struct SyncDecision: Sendable {
    /// Who writes.
    public let user: UserContext
    /// The channels that the user has access to now.
    public let userChannels: Set<String>
    /// The roles that the user has now: those of the account, and those that documents gave.
    public let userRoles: Set<String>

    /// The channels of the document.
    public private(set) var channels: Set<String> = []
    /// The channels that the document gives access to, by user or `role:NAME`.
    public private(set) var access: [String: Set<String>] = [:]
    /// The roles that the document gives, by user.
    public private(set) var roles: [String: Set<String>] = [:]
    /// What is wrong with a name that the function gave, which a set may have taken for an equivalent one.
    private var problem: String?

    static let allChannels = "*"
    static let publicChannel = "!"
    static let rolePrefix = "role:"
    /// The channel of this and a user's name is the user's own.
    static let userPrefix = "user:"
    private static let longestName = 200
    private static let mostChannels = 1_000
    private static let mostGrants = 10_000

    /// Whether the user is an administrator of the server or the database, of whom nothing is required.
    public let isAdmin: Bool

    init(user: UserContext, isAdmin: Bool, channels: Set<String>, roles: Set<String>) {
        self.user = user
        self.isAdmin = isAdmin
        userChannels = channels
        userRoles = roles
    }

    // MARK: Deciding

    /// Puts the document in channels. In `!` everybody sees it, in `user:NAME` the user of that name.
    public mutating func channel(_ names: String...) { channel(names) }

    /// Puts the document in channels.
    public mutating func channel(_ names: some Sequence<String>) {
        let names = checked(names)
        channels.formUnion(names)
    }

    /// Gives users, or `role:NAME`, access to channels for as long as the document says so. `*` stands for all documents.
    public mutating func access(_ users: some Sequence<String>, _ channels: some Sequence<String>) {
        let channels = checked(channels)
        for user in checked(users) { access[user, default: []].formUnion(channels) }
    }

    /// Gives a user, or `role:NAME`, access to a channel for as long as the document says so.
    public mutating func access(_ user: String, _ channel: String) { access([user], [channel]) }

    /// Gives users roles for as long as the document says so. They may be written `role:NAME`.
    public mutating func role(_ users: some Sequence<String>, _ roles: some Sequence<String>) {
        let names = checked(roles).map(Self.roleName)
        for user in checked(users) { self.roles[user, default: []].formUnion(names) }
    }

    /// Gives a user a role for as long as the document says so.
    public mutating func role(_ user: String, _ role: String) { self.role([user], [role]) }

    /// The names, of which a wrong one is noted before it is compared with others.
    private mutating func checked(_ names: some Sequence<String>) -> [String] {
        let names = Array(names)
        for name in names where problem == nil && !name.utf8.allSatisfy({ $0 < 0x80 }) {
            problem = Self.problem(ofName: name)
        }
        return names
    }

    // MARK: Requiring

    /// - Throws: `forbidden` unless the user is one of these, or an administrator.
    public func requireUser(_ names: some Sequence<String>) throws {
        guard isAdmin || names.contains(where: { user.name?.isIdentical(to: $0) == true }) else {
            throw ValidationFailure.forbidden("wrong user")
        }
    }

    /// - Throws: `forbidden` unless the user is this one, or an administrator.
    public func requireUser(_ name: String) throws { try requireUser([name]) }

    /// - Throws: `forbidden` unless the user has one of these roles, or is an administrator.
    public func requireRole(_ roles: some Sequence<String>) throws {
        guard isAdmin || roles.contains(where: { Self.has(userRoles, Self.roleName($0)) }) else {
            throw ValidationFailure.forbidden("missing role")
        }
    }

    /// - Throws: `forbidden` unless the user has this role, or is an administrator.
    public func requireRole(_ role: String) throws { try requireRole([role]) }

    /// - Throws: `forbidden` unless the user has access to one of these channels, or is an administrator.
    public func requireAccess(_ channels: some Sequence<String>) throws {
        let all = userChannels.contains(Self.allChannels)
        guard isAdmin || channels.contains(where: { all || Self.has(userChannels, $0) }) else {
            throw ValidationFailure.forbidden("missing channel access")
        }
    }

    /// - Throws: `forbidden` unless the user has access to this channel, or is an administrator.
    public func requireAccess(_ channel: String) throws { try requireAccess([channel]) }

    /// Whether a name is among those that a user has. They are in the normal form C, in which names that Unicode calls equivalent have
    /// the same bytes; another form of one is another name.
    private static func has(_ names: Set<String>, _ name: String) -> Bool {
        names.contains(name) && problem(ofName: name) == nil
    }

    private static func roleName(_ text: String) -> String {
        text.removing(prefix: rolePrefix) ?? text
    }

    // MARK: What came of it

    /// What is kept of the decision.
    ///
    /// - Parameter version: That of the function.
    ///
    /// - Throws: 500 for a name that can be none, and for more than there may be.
    func routing(_ version: String) throws -> Routing {
        let grants = access.values.reduce(0) { $0 + $1.count } + roles.values.reduce(0) { $0 + $1.count }
        guard channels.count <= Self.mostChannels, grants <= Self.mostGrants else {
            throw Self.broken(
                "\(channels.count) channels and \(grants) grants; \(Self.mostChannels) and \(Self.mostGrants) are the most"
            )
        }
        let names = [
            Array(channels), Array(access.keys), access.values.flatMap { $0 }, Array(roles.keys),
            roles.values.flatMap { $0 },
        ].joined()
        if let problem { throw Self.broken(problem) }
        for name in names {
            if let problem = Self.problem(ofName: name) { throw Self.broken(problem) }
        }
        return Routing(
            channels: channels.subtracting([Self.allChannels]).sorted(),
            access: access.mapValues { $0.sorted() }, roles: roles.mapValues { $0.sorted() }, version: version
        )
    }

    /// Why a text can be no name of a channel, user or role, as an object of a sentence; `nil` where it can.
    static func problem(ofName name: String) -> String? {
        guard (1...longestName).contains(name.utf8.count) else {
            return "a name of \(name.utf8.count) bytes; 1 to \(longestName) may be"
        }
        // Of names that Unicode calls equivalent there is one, so that sets of names compare them by their bytes.
        return name.isIdentical(to: name.precomposedStringWithCanonicalMapping)
            ? nil : "the name \(name), which is not in Unicode's normal form C"
    }

    private static func broken(_ reason: String) -> HTTPFailure {
        HTTPFailure(500, "sync_function_error", "The sync function gave \(reason).")
    }
}

/// What is kept of a sync function's decision on one revision.
struct Routing: Equatable, Sendable {
    var channels: [String] = []
    /// Channels by user or `role:NAME`.
    var access: [String: [String]] = [:]
    /// Roles by user.
    var roles: [String: [String]] = [:]
    /// The version of the function that decided; `nil` for none.
    var version: String?
    /// Whether the function refused a revision that it was asked about when it was there already: that is for administrators only.
    var isRefused: Bool?
    /// Whether it is less than what was decided, till everything that the function before decided is gone.
    var isNarrowed: Bool?

    /// Whether both come to the same, whichever function decided.
    func isSame(as other: Self) -> Bool {
        channels == other.channels && access == other.access && roles == other.roles
            && (isRefused == true) == (other.isRefused == true)
    }

    /// What this and `old`, the decision of the function before, have in common: nobody sees more by it than by either. Where one of them
    /// is none, or refused the document, it is for administrators only.
    func narrowed(to old: Routing?) -> Routing {
        guard let old, isRefused != true, old.isRefused != true else {
            return Routing(version: version, isRefused: true, isNarrowed: true)
        }
        func common(_ grants: [String: [String]], _ others: [String: [String]]) -> [String: [String]] {
            grants.reduce(into: [:]) { common, grant in
                let names = Set(others[grant.key] ?? []).intersection(grant.value)
                if !names.isEmpty { common[grant.key] = names.sorted() }
            }
        }
        return Routing(
            channels: Set(channels).intersection(old.channels).sorted(), access: common(access, old.access),
            roles: common(roles, old.roles), version: version, isNarrowed: true)
    }
}
