import Fleece
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

    /// What is known of a name.
    fileprivate struct Account: Sendable {
        let user: UserContext
        /// `nil` for an administrator, and for a user that can't log in.
        let password: PasswordRecord?
        /// Another one after each change of the account.
        let revision: RevisionID?
        /// Whether it has more than one live revision: it must not be used until one is left.
        let isConflicted: Bool
    }

    /// A user who has shown name and password.
    struct Login: Sendable {
        /// The account that the password was compared with.
        fileprivate let account: Account

        var user: UserContext { account.user }
    }

    /// A password that is compared with an account.
    private struct Attempt: Hashable {
        /// The name and the address.
        let pair: AttemptKey
        let address: AttemptKey
        /// The code of name and password.
        let password: [UInt8]
        /// That of the account.
        let revision: RevisionID?
    }

    private struct State {
        /// Codes of names and passwords that were right, with the revision of the account for which they were.
        var verified = RecentValues<[UInt8], (revision: RevisionID?, until: Int)>(limit: mostVerified)
        var attempts = LoginAttempts()
        /// Passwords that are being checked.
        var checks: [Attempt: Task<Bool, any Error>] = [:]
    }

    /// So long a verified password is not computed again, since basic authentication sends it with each request.
    private static let verifiedSeconds = 60
    private static let mostVerified = 4_096

    /// What the router's options say of accounts. Of the administrators' passwords only codes are kept.
    private struct Settings {
        let passwordRounds: Int
        let sessionDuration: Int
        /// Codes of the administrators' passwords under ``key``.
        let admins: [ByteKey: [UInt8]]
        let adminNames: Set<ByteKey>
        /// Of each administrator, what sessions are signed with.
        let adminSessionKeys: [ByteKey: SymmetricKey]
        /// Counts the settings that there have been.
        let number: UInt64

        init(_ options: RouterOptions, _ key: SymmetricKey, _ secret: SymmetricKey, number: UInt64) {
            passwordRounds = options.passwordRounds
            sessionDuration = options.sessionDuration
            adminSessionKeys = options.admins.reduce(into: [:]) { keys, admin in
                keys[ByteKey(admin.key)] = SymmetricKey(Accounts.code(admin.key, admin.value, secret))
            }
            admins = options.admins.reduce(into: [:]) { codes, admin in
                codes[ByteKey(admin.key)] = Accounts.code(admin.key, admin.value, key)
            }
            adminNames = Set(options.admins.keys.map { ByteKey(AccountNames.folded($0)) })
            self.number = number
        }
    }

    /// Random at each start, so that codes of passwords are of no use to a reader of this process's memory of another time.
    private let key = SymmetricKey.random()
    /// The same at each start: replicators go on with the sessions they have.
    private let sessionSecret: SymmetricKey
    private let databases: DatabaseDirectory
    private let settings: Mutex<Settings>
    private let state = Mutex(State())
    private let work = PasswordWork()

    init(_ options: RouterOptions, _ databases: DatabaseDirectory) {
        self.databases = databases
        sessionSecret = SymmetricKey(databases.sessionSecret)
        settings = Mutex(Settings(options, key, sessionSecret, number: 0))
    }

    /// Takes other options. Sessions of administrators who are not in them, or have another password there, end.
    func use(_ options: RouterOptions) {
        settings.withLock { $0 = Settings(options, key, sessionSecret, number: $0.number + 1) }
        // Passwords that were right for administrators before.
        state.withLock { $0.verified = RecentValues(limit: Self.mostVerified) }
    }

    /// A code that only this process can make of a name and a password.
    ///
    /// An array: Swift 6.3 keeps values of 32 bytes' alignment, as digests are, in an asynchronous function so that they damage
    /// its task's memory.
    private static func code(_ name: String, _ password: String, _ key: SymmetricKey) -> [UInt8] {
        HMAC<SHA256>.authenticate(Array("\(name.utf8.count):\(name)\(password)".utf8), key: key).bytes
    }

    /// How many passwords are being checked, and how many log-ins are remembered.
    var passwordUsage: (busy: Int, waiting: Int, limit: Int, remembered: Int) {
        (
            work.threads - work.idleCount, work.waitingCount, PasswordWork.mostWaiting,
            state.withLock { $0.attempts.count }
        )
    }

    private var sessionDuration: Int { settings.withLock { $0.sessionDuration } }
    private var passwordRounds: Int { settings.withLock { $0.passwordRounds } }

    private static var now: Int { Int(Date().timeIntervalSince1970) }

    // MARK: Requests

    /// - Parameter trustsCookies: Whether the session's cookie counts.
    /// - Throws: 401 for credentials that are wrong, 403 after too many of them, 5xx where accounts can't be read.
    func identify(_ request: HTTPRequest, trustsCookies: Bool = true) async throws -> Identity {
        if let authorization = request.headers["Authorization"],
            HTTPHeaders.areEqual(authorization.prefix(6), "basic ")
        {
            guard let bytes = Base64.decode(Array(authorization.dropFirst(6).utf8)),
                let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
                let name = String(validating: bytes[..<colon], as: UTF8.self),
                let password = String(validating: bytes[(colon + 1)...], as: UTF8.self)
            else { throw HTTPFailure.unauthorized("Name or password is incorrect.") }
            return Identity(
                user: try await logIn(name, password, from: request.peer).user, handler: "default")
        }
        guard trustsCookies, let value = SessionCookie.find(request.headers["Cookie"]),
            let name = SessionCookie.claimedUser(value), let account = try account(name),
            !account.isConflicted,
            let session = SessionCookie(value, sessionKey(account)), session.start <= Self.now,
            Self.now - session.start < sessionDuration
        else { return Identity() }
        let isOld = Self.now - session.start > sessionDuration / 10
        return Identity(
            user: account.user, handler: "cookie",
            renewedCookie: isOld ? cookie(account) : nil)
    }

    /// The user of that name as of now: with the present roles; `nil` where there is none any more.
    ///
    /// - Throws: 5xx where accounts can't be read.
    func user(_ name: String) throws -> UserContext? {
        guard let account = try account(name), !account.isConflicted else { return nil }
        return account.user
    }

    /// The field that begins a session of a user. It is not valid for an account whose password has changed since.
    func cookie(_ login: Login) -> String { cookie(login.account) }

    private func cookie(_ account: Account) -> String {
        let session = SessionCookie(user: account.user.name ?? "", start: Self.now)
        return "\(SessionCookie.name)=\(session.value(sessionKey(account))); Version=1; Path=/; "
            + "HttpOnly; SameSite=Lax; Max-Age=\(sessionDuration)"
    }

    /// What the user's sessions are signed with: another one after a change of the password.
    private func sessionKey(_ account: Account) -> SymmetricKey {
        let name = account.user.name ?? ""
        if let key = settings.withLock({ $0.adminSessionKeys[ByteKey(name)] }) { return key }
        let credential = String(decoding: account.user.credential ?? [], as: UTF8.self)
        return SymmetricKey(Self.code(name, credential, sessionSecret))
    }

    // MARK: Changes

    /// The present state of the accounts.
    func moment() throws -> AccountsMoment {
        let snapshot = try databases.database("_users")?.defaultCollection.snapshot()
        return AccountsMoment(
            settings: settings.withLock { $0.number },
            users: snapshot.map {
                AccountsMoment.Users(
                    epoch: $0.epoch, sequence: $0.lastSequence, purges: $0.purgeSequence)
            })
    }

    /// Whether the account of a user is as it was when the user was identified: there, with the same password and roles.
    func holds(_ user: UserContext) throws -> Bool {
        guard let credential = user.credential, let name = user.name else { return true }
        guard let present = try self.user(name) else { return false }
        return present.credential == credential && present.hasRoles(of: user)
    }

    // MARK: Logging in

    /// The user of a name and password.
    ///
    /// - Throws: 401, or 403 after too many wrong ones from `peer`; 503 when too many are being checked; 5xx where accounts can't be read.
    func logIn(
        _ name: String, _ password: String, from peer: String
    ) async throws -> Login {
        let account = try account(name)
        let network = ClientAddress.network(of: peer)
        let attempt = Attempt(
            pair: AttemptKey(name, network, key: key), address: AttemptKey(network, key: key),
            password: Self.code(name, password, key), revision: account?.revision)
        guard try await isRight(name, password, account, attempt), let account else {
            throw HTTPFailure.unauthorized("Name or password is incorrect.")
        }
        guard !account.isConflicted else {
            throw HTTPFailure.unauthorized(
                "The account has conflicting revisions. An administrator must delete all but one.")
        }
        return Login(account: account)
    }

    private func isRight(
        _ name: String, _ password: String, _ account: Account?, _ attempt: Attempt
    ) async throws -> Bool {
        let now = Self.now
        let check: Task<Bool, any Error>? = try state.withLock { state in
            // The same password again, while it is being checked, is no further attempt.
            if let check = state.checks[attempt] { return check }
            try state.attempts.check(attempt.pair, attempt.address, now)
            if account != nil, let verified = state.verified[attempt.password],
                verified.until > now, verified.revision == attempt.revision
            {
                return nil
            }
            state.attempts.begin(attempt.pair)
            let lane = state.attempts.isProven(attempt.pair) ? attempt.pair : attempt.address
            let check = Task {
                var isRight: Bool?
                defer { self.end(attempt, isRight) }
                isRight = try await self.compare(name, password, account, attempt, lane)
                return isRight == true
            }
            state.checks[attempt] = check
            return check
        }
        return try await check?.value ?? true
    }

    private func end(_ attempt: Attempt, _ isRight: Bool?) {
        let now = Self.now
        state.withLock { state in
            state.checks[attempt] = nil
            state.attempts.end(attempt.pair, attempt.address, now, isRight: isRight)
            guard isRight == true else { return }
            state.verified[attempt.password] = (attempt.revision, now + Self.verifiedSeconds)
        }
    }

    private func compare(
        _ name: String, _ password: String, _ account: Account?, _ attempt: Attempt, _ lane: AttemptKey
    ) async throws -> Bool {
        if let admin = adminCode(name), constantTimeEqual(admin, attempt.password) { return true }
        let (record, rounds) = (account?.password, passwordRounds)
        return try await work.run(lane) { PasswordRecord.matches(password, record, rounds: rounds) }
    }

    /// The record of a user's new password.
    ///
    /// - Throws: 503 when too many passwords wait.
    func record(of password: String, for user: UserContext) async throws -> PasswordRecord {
        let rounds = passwordRounds
        return try await work.run(AttemptKey("change", user.name ?? "", key: key)) {
            PasswordRecord(password, rounds: rounds)
        }
    }

    // MARK: Names

    /// The most rounds that a stored record may ask for.
    var mostRounds: Int { max(passwordRounds, PasswordRecord.mostRounds) }

    /// The password's record in a document of `_users`; `nil` where it permits no log-in.
    func record(_ properties: FleeceDictionary) -> PasswordRecord? {
        PasswordRecord(properties, mostRounds: mostRounds)
    }

    /// Whether a name is an administrator's, or easily taken for one.
    func resemblesAdministrator(_ name: String) -> Bool {
        settings.withLock { $0.adminNames.contains(ByteKey(AccountNames.folded(name))) }
    }

    /// The code of an administrator's password; `nil` for every other name.
    private func adminCode(_ name: String) -> [UInt8]? {
        settings.withLock { $0.admins[ByteKey(name)] }
    }

    /// - Throws: 5xx where accounts can't be read.
    private func account(_ name: String) throws -> Account? {
        if let code = adminCode(name) {
            return Account(
                user: UserContext(name: name, roles: ["_admin"], credential: code), password: nil,
                revision: nil, isConflicted: false)
        }
        guard !name.isEmpty, let document = try document(name) else { return nil }
        let roles = document["roles"].array?.compactMap(\.string).filter(UsersDatabase.mayHave) ?? []
        let record = record(document.properties)
        // Both of the record's parts, since a replicator may bring another key with the same salt.
        let secret = record.map {
            [$0.salt, $0.derivedKey].map { RandomText.text($0) }.joined(separator: ":")
        }
        return Account(
            user: UserContext(name: name, roles: roles, credential: Array((secret ?? "").utf8)),
            password: record, revision: document.revision, isConflicted: document.isConflicted)
    }

    private func document(_ name: String) throws -> Document? {
        let id = UsersDatabase.prefix + name
        do {
            guard id.utf8.count <= DocumentID.maximumLength else { return nil }
            return try databases.database("_users")?.defaultCollection.document(id)
        } catch {
            // Not 401, which says that there is no such account.
            let failure = HTTPFailure(error)
            throw failure.status >= 500
                ? failure
                : HTTPFailure(503, "service unavailable", "Accounts can't be read: \(failure.reason)")
        }
    }
}

/// The state of the accounts; another one after each change.
struct AccountsMoment: Equatable, Sendable {
    struct Users: Equatable, Sendable {
        let epoch: UInt64
        let sequence: UInt64
        let purges: UInt64
    }

    /// Which of the settings that there have been.
    let settings: UInt64
    /// `nil` where there is no database of users.
    let users: Users?
}

/// The cookie of a session: who it is of, when it began, and a code that only the server can make.
struct SessionCookie {
    static let name = "AuthSession"
    static let cleared = "\(name)=; Version=1; Path=/; HttpOnly; Max-Age=0"

    let user: String
    /// In seconds since 1970.
    let start: Int

    /// The cookie's value.
    func value(_ key: SymmetricKey) -> String {
        let text = "\(user):\(String(start, radix: 16, uppercase: true))"
        let code = HMAC<SHA256>.authenticate(Array(text.utf8), key: key)
        let base64 = Base64.encode(Array("\(text):\(code)".utf8))
        return String(base64.compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }

    init(user: String, start: Int) {
        self.user = user
        self.start = start
    }

    /// The user whose session a value says it is, which is not proven.
    static func claimedUser(_ value: String) -> String? {
        parts(value)?.dropLast(2).joined(separator: ":")
    }

    /// User, time and code; a user may have colons in the name.
    private static func parts(_ value: String) -> [String]? {
        var base64 = value.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while base64.count % 4 != 0 { base64.append(UInt8(ascii: "=")) }
        guard let bytes = Base64.decode(base64) else { return nil }
        // By bytes: what combines with a colon is part of a name, and the colon no part of it.
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .compactMap { String(validating: $0, as: UTF8.self) }
        return parts.count >= 3 ? parts : nil
    }

    /// The session that a value encodes; `nil` when its code is wrong.
    init?(_ value: String, _ key: SymmetricKey) {
        guard let parts = Self.parts(value), let start = Int(parts[parts.count - 2], radix: 16) else {
            return nil
        }
        user = parts.dropLast(2).joined(separator: ":")
        self.start = start
        // The whole value, not only its code: base64 has several texts for the same bytes.
        guard constantTimeEqual(Array(self.value(key).utf8), Array(value.utf8)) else { return nil }
    }

    /// The session's value among the cookies of a request.
    static func find(_ field: String?) -> String? {
        for cookie in (field ?? "").utf8.split(separator: UInt8(ascii: ";")) {
            let cookie = String(decoding: cookie.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
            if let value = cookie.removing(prefix: name + "="), !value.isEmpty { return value }
        }
        return nil
    }
}
