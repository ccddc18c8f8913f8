import Foundation
import Roost
import RoostBytes
import RoostCrypto
import RoostWire
import Synchronization

/// Who a request comes from: administrators that the server was started with, and the users of `_users`.
final class Accounts: Sendable {
    /// What a request's credentials say.
    struct Identity: Sendable {
        var user = UserContext.anonymous
        /// Which way it was shown: `default` for basic, `cookie`.
        var handler: String?
        var renewedCookie: String?
    }

    private struct KnownUser {
        let context: UserContext
        /// `nil` for an administrator.
        let password: PasswordRecord?
        /// What the user's sessions are signed with: another one after a change of the password.
        let sessionKey: SymmetricKey
    }

    private struct Attempts {
        var count: Int
        var until: Int
    }

    private struct State {
        /// Codes of names and passwords that were right, with the end of their validity, in seconds since 1970.
        var verified: [[UInt8]: (user: UserContext, until: Int)] = [:]
        /// Wrong passwords by name and address.
        var failures: [String: Attempts] = [:]
    }

    private static let mostFailures = 5
    private static let lockSeconds = 300
    /// So long a verified password is not computed again, since basic authentication sends it with each request.
    private static let verifiedSeconds = 60
    private static let mostEntries = 4096

    private let options: RouterOptions
    /// Codes of the administrators' passwords under ``key``; nothing else of them is kept.
    private let admins: [String: [UInt8]]
    /// Random at each start, so that codes of passwords are of no use to who reads them.
    private let key = SymmetricKey.random()
    /// Of each administrator, what sessions are signed with.
    private let adminSessionKeys: [String: SymmetricKey]
    /// The same at each start: replicators go on with the sessions they have.
    private let sessionSecret: SymmetricKey
    private let state = Mutex(State())

    init(_ options: RouterOptions, sessionSecret: [UInt8]) {
        let key = key
        let secret = SymmetricKey(sessionSecret)
        self.sessionSecret = secret
        adminSessionKeys = options.admins.reduce(into: [:]) { keys, admin in
            keys[admin.key] = SymmetricKey(Self.code(admin.key, admin.value, secret))
        }
        admins = Dictionary(
            uniqueKeysWithValues: options.admins.map { ($0.key, Self.code($0.key, $0.value, key)) })
        var options = options
        options.admins = [:]
        self.options = options
    }

    /// A code that only this process can make of a name and a password.
    ///
    /// An array: Swift 6.3 keeps values of 32 bytes' alignment, as digests are, in an asynchronous function so that they damage
    /// its task's memory.
    private static func code(_ name: String, _ password: String, _ key: SymmetricKey) -> [UInt8] {
        HMAC<SHA256>.authenticate(Array("\(name.utf8.count):\(name)\(password)".utf8), key: key).bytes
    }

    private static var now: Int { Int(Date().timeIntervalSince1970) }

    // MARK: Requests

    /// - Throws: 401 for credentials that are wrong, 403 after too many of them.
    func identify(_ request: HTTPRequest, _ databases: DatabaseDirectory) async throws -> Identity {
        if let authorization = request.headers["Authorization"],
            authorization.lowercased().hasPrefix("basic ")
        {
            guard let bytes = Base64.decode(Array(authorization.dropFirst(6).utf8)),
                let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":")
            else { throw HTTPFailure.unauthorized("Name or password is incorrect.") }
            let user = try await logIn(
                String(text[..<colon]), String(text[text.index(after: colon)...]), from: request.peer,
                databases)
            return Identity(user: user, handler: "default")
        }
        guard let value = SessionCookie.find(request.headers["Cookie"]),
            let name = SessionCookie.claimedUser(value), let user = try user(name, databases),
            let session = SessionCookie(value, user.sessionKey), session.start <= Self.now,
            Self.now - session.start < options.sessionDuration
        else { return Identity() }
        let isOld = Self.now - session.start > options.sessionDuration / 10
        return Identity(
            user: user.context, handler: "cookie",
            renewedCookie: isOld ? cookie(name, user.sessionKey) : nil)
    }

    /// The field that begins a session of a user.
    func cookie(_ name: String, _ databases: DatabaseDirectory) throws -> String {
        guard let user = try user(name, databases) else { return SessionCookie.cleared }
        return cookie(name, user.sessionKey)
    }

    private func cookie(_ name: String, _ key: SymmetricKey) -> String {
        "\(SessionCookie.name)=\(SessionCookie(user: name, start: Self.now).value(key)); Version=1; Path=/; "
            + "HttpOnly; SameSite=Lax; Max-Age=\(options.sessionDuration)"
    }

    /// The user whose name and password these are.
    ///
    /// - Throws: 401, or 403 after too many wrong ones from `peer`.
    func logIn(
        _ name: String, _ password: String, from peer: String, _ databases: DatabaseDirectory
    ) async throws -> UserContext {
        let attempt = "\(name)\n\(peer)"
        let now = Self.now
        let code = Self.code(name, password, key)
        if let known = try known(code, attempt, now) { return known }
        if let user = try await verify(name, password, code, databases) {
            state.withLock { state in
                if state.verified.count >= Self.mostEntries { state.verified.removeAll() }
                state.verified[code] = (user, now + Self.verifiedSeconds)
                state.failures[attempt] = nil
            }
            return user
        }
        state.withLock { state in
            if state.failures.count >= Self.mostEntries {
                state.failures = state.failures.filter { $0.value.until > now }
            }
            let old = state.failures[attempt].map { $0.until > now ? $0.count : 0 } ?? 0
            state.failures[attempt] = Attempts(count: old + 1, until: now + Self.lockSeconds)
        }
        throw HTTPFailure.unauthorized("Name or password is incorrect.")
    }

    /// The user whose password was verified lately.
    ///
    /// - Throws: 403 after too many wrong ones.
    private func known(_ code: [UInt8], _ attempt: String, _ now: Int) throws -> UserContext? {
        try state.withLock { state in
            if let failures = state.failures[attempt], failures.count >= Self.mostFailures,
                failures.until > now
            {
                throw HTTPFailure.forbidden(
                    "Too many wrong passwords. Try again in \(failures.until - now) seconds.")
            }
            if let entry = state.verified[code], entry.until > now { return entry.user }
            return nil
        }
    }

    private func verify(
        _ name: String, _ password: String, _ code: [UInt8], _ databases: DatabaseDirectory
    ) async throws -> UserContext? {
        if let admin = admins[name] {
            return constantTimeEqual(admin, code) ? UserContext(name: name, roles: ["_admin"]) : nil
        }
        guard let user = try user(name, databases), let record = user.password else { return nil }
        let isRight = await record.matches(password)
        return isRight ? user.context : nil
    }

    /// Forgets verified passwords: users have changed.
    func forget() { state.withLock { $0.verified.removeAll() } }

    // MARK: Changes

    /// The present moment of the accounts; `nil` where there are none.
    func moment(_ databases: DatabaseDirectory) throws -> AccountsMoment? {
        guard let snapshot = try databases.database("_users")?.defaultCollection.snapshot() else {
            return nil
        }
        return AccountsMoment(
            epoch: snapshot.epoch, sequence: snapshot.lastSequence, purges: snapshot.purgeSequence)
    }

    /// Whether the account of a user is as it was when the user was identified: there, with the same password and roles.
    func holds(_ user: UserContext, _ databases: DatabaseDirectory) throws -> Bool {
        guard let credential = user.credential, let name = user.name else { return true }
        guard let present = try self.user(name, databases)?.context else { return false }
        return present.credential == credential && present.hasRoles(of: user)
    }

    private func user(
        _ name: String, _ databases: DatabaseDirectory
    ) throws -> KnownUser? {
        if let key = adminSessionKeys[name] {
            return KnownUser(
                context: UserContext(name: name, roles: ["_admin"]), password: nil, sessionKey: key)
        }
        guard !name.isEmpty, let database = try databases.database("_users"),
            let document = try? database.defaultCollection.get(UsersDatabase.prefix + name)
        else { return nil }
        let roles = document["roles"].array?.compactMap(\.string).filter(UsersDatabase.mayHave) ?? []
        let salt = document["salt"].string ?? ""
        let password = PasswordRecord(document.properties)
        let credential = Array(salt.utf8) + (password?.derivedKey ?? [])
        return KnownUser(
            context: UserContext(name: name, roles: roles, credential: credential), password: password,
            sessionKey: SymmetricKey(Self.code(name, salt, sessionSecret)))
    }
}

/// A moment of the accounts; another one after each change.
struct AccountsMoment: Equatable, Sendable {
    let epoch: UInt64
    let sequence: UInt64
    let purges: UInt64
}
