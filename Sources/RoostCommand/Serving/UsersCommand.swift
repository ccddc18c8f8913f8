import Fleece
import Foundation
import Roost
import RoostREST
import RoostSync

/// `roost users list|add|password|roles|remove SERVER`, or with the server first.
enum UsersCommand: Command {
    static let name = "users"
    static let summary = "lists, adds and changes the accounts of a server"
    static let parameters = [
        Parameter(
            label: "SERVER",
            help:
                "its address, such as http://localhost:5984, or the directory that it serves, while it doesn't run"
        ),
        Parameter(label: "list|add|password|roles|remove", help: "what to do; may also stand before SERVER"),
        Parameter(label: "NAME", help: "all but list: the account", isOptional: true),
    ]
    static let options =
        [
            Option(
                "--new-password-file", "FILE", "add, password: the first line of FILE; else it is asked for"),
            Option(
                "--roles", "LIST",
                "add, roles: the account's roles, with commas between them; none by default"),
        ] + RemoteAccess.options + [.json]
    static let notes = """
        Accounts are the documents of the server's database _users. --user and --password-file say which administrator asks a server that runs.
        A changed account counts at once: its sessions end with an old password, and its feeds with what it may no longer see.
        """

    private enum Verb: String, CaseIterable { case list, add, password, roles, remove }

    static func run(_ given: Invocation) throws {
        let (verb, invocation) = try given.verb(Verb.self)
        let name = invocation.optional(2)
        guard (name == nil) == (verb == .list) else {
            throw UsageError(verb == .list ? "list takes no NAME." : "\(verb.rawValue) needs a NAME.")
        }
        guard verb == .add || verb == .roles || invocation.string("--roles") == nil else {
            throw UsageError("--roles goes with add and roles.")
        }
        let password = verb == .add || verb == .password ? try newPassword(invocation) : nil
        let directory = try RemoteAccess.isAddress(invocation[0]) ? nil : open(invocation[0])
        let users = try database(invocation, directory)
        defer { try? directory?.close() }
        switch verb {
        case .list: try list(users, asJSON: invocation.has("--json"))
        case .add: try add(name ?? "", password ?? "", roles(invocation), to: users)
        case .password: try change(name ?? "", in: users) { $0["password"].string = password }
        case .roles:
            let roles = roles(invocation)
            try change(name ?? "", in: users) { $0["roles"] = array(roles) }
        case .remove:
            try change(name ?? "", in: users) { $0 = ["_rev": $0["_rev"] ?? .null, "_deleted": true] }
        }
    }

    // MARK: The server

    private static func open(_ path: String) throws -> DatabaseDirectory {
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure("There is no directory \(path).")
        }
        return try DatabaseDirectory(path)
    }

    private static func database(
        _ invocation: Invocation, _ directory: DatabaseDirectory?
    ) throws -> RemoteDatabase {
        if let directory {
            let router = Router(directory)
            let transport = LocalTransport { await router.respond(to: $0, as: .admin) }
            return RemoteDatabase("_users", over: transport)
        }
        return try RemoteAccess.database("_users", ofServer: invocation[0], invocation)
    }

    // MARK: What is done

    private static let prefix = "org.couchdb.user:"

    private static func list(_ users: RemoteDatabase, asJSON: Bool) throws {
        let accounts: [DocumentValue]
        do {
            accounts = try Waiting.result { try await users.documents(prefix: prefix) }
        } catch let error as RemoteError where error.status == 404 {
            accounts = []
        }
        let rows = accounts.map { account in
            (
                name: account["name"]?.string ?? "",
                roles: (account["roles"]?.array ?? []).compactMap(\.string)
            )
        }
        if asJSON {
            for row in rows {
                var object = JSONObject()
                object.add("name", row.name)
                object.add("roles", raw: JSONObject.array(row.roles.map(JSONObject.quoted)))
                Console.print(object.text)
            }
            return
        }
        guard !rows.isEmpty else { return Console.print("There are no accounts.") }
        var table = TextTable(["NAME", "ROLES"])
        for row in rows { table.add([row.name, row.roles.joined(separator: ", ")]) }
        table.finish()
    }

    private static func add(
        _ name: String, _ password: String, _ roles: [String], to users: RemoteDatabase
    ) throws {
        let account = account(name, password, roles)
        let text = try account.json()
        let written = try Waiting.result {
            try await users.createsIfMissing()
            return try await users.save(text, id: prefix + name)
        }
        guard case .saved = written else { throw CommandFailure("There is an account \(name) already.") }
        Console.print("\(name) has an account.")
    }

    private static func account(_ name: String, _ password: String, _ roles: [String]) -> DocumentValue {
        .dictionary([
            "name": .string(name), "type": "user", "roles": Self.array(roles), "password": .string(password),
        ])
    }

    private static func array(_ roles: [String]) -> DocumentValue { .array(roles.map { .string($0) }) }

    /// Saves an account with a change; again where it has changed meanwhile.
    private static func change(
        _ name: String, in users: RemoteDatabase, _ change: @Sendable @escaping (inout DocumentValue?) -> Void
    ) throws {
        let isDone = try Waiting.result {
            for _ in 0..<5 {
                var account = try await users.document(prefix + name)
                guard account != nil else { throw CommandFailure("There is no account \(name).") }
                change(&account)
                let text = try account?.json() ?? "{}"
                if case .saved = try await users.save(text, id: prefix + name) { return true }
            }
            return false
        }
        guard isDone else { throw CommandFailure("\(name) is being changed by others. Try it again.") }
        Console.print("\(name) is changed.")
    }

    private static func roles(_ invocation: Invocation) -> [String] {
        (invocation.string("--roles") ?? "").split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    private static func newPassword(_ invocation: Invocation) throws -> String {
        if let path = invocation.string("--new-password-file") { return try InputFile(path).firstLine() }
        guard let first = try PassphrasePrompt.text("New password: ") else {
            throw UsageError("Give --new-password-file.")
        }
        guard try PassphrasePrompt.text("Once more: ") == first else {
            throw CommandFailure("The two passwords differ; nothing was changed.")
        }
        return first
    }
}
