import Fleece
import Roost
import RoostBytes
import RoostCrypto
import RoostWire

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What is to be replicated, as a document of `_replicator` or the body of `_replicate` says it.
package struct ReplicationRequest: Sendable {
    /// One side of it.
    package enum Endpoint: Sendable {
        /// A database of this server.
        case local(String)
        /// One elsewhere.
        case remote(RemoteDatabase)

        /// What people may see of it: no password.
        package var description: String {
            switch self {
            case .local(let name): name
            case .remote(let database): database.description
            }
        }
    }

    package let source: Endpoint
    package let target: Endpoint
    package let options: ReplicationOptions
    package let createsTarget: Bool
    /// Whether it ends the job of the same name instead of beginning one.
    package let isCancellation: Bool
    /// Names the job: the same endpoints and the same selection have the same name.
    package let id: String
    /// The request's members, without those that a manager writes.
    private let body: NamedValues<DocumentValue>

    /// - Throws: ``ReplicationRequestError``.
    package init(_ body: DocumentValue) throws {
        guard case .dictionary(let members) = body else {
            throw ReplicationRequestError("A request for a replication must be a JSON object.")
        }
        var body = members
        for (name, _) in members where name.begins(with: "_") { body[name] = nil }
        self.body = body
        let fields = RequestFields(members)
        options = try fields.options()
        let http = try fields.httpOptions()
        source = try fields.endpoint("source", http)
        target = try fields.endpoint("target", http)
        createsTarget = try fields.flag("create_target")
        isCancellation = try fields.flag("cancel")
        let parts: NamedValues<DocumentValue> = [
            "source": .string(source.description), "target": .string(target.description),
            "selection": options.selection.description,
        ]
        let digest = SHA256.hash(Array(DocumentValue.dictionary(parts).description.utf8)).description.prefix(
            32)
        id = digest + (options.isContinuous ? Self.continuousSuffix : "")
    }

    static let continuousSuffix = "+continuous"

    /// Whether both request the same.
    package func isSame(as other: Self) -> Bool { body == other.body }
}

/// Why a requested replication is impossible.
package struct ReplicationRequestError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The members of a request, by what they must be.
private struct RequestFields {
    private let members: NamedValues<DocumentValue>

    init(_ members: NamedValues<DocumentValue>) { self.members = members }

    /// A member that is there and not null.
    private func value(_ name: String) -> DocumentValue? {
        guard let value = members[name], value != .null else { return nil }
        return value
    }

    func flag(_ name: String) throws -> Bool {
        switch value(name) {
        case nil: false
        case .bool(let flag)?: flag
        default: throw ReplicationRequestError("`\(name)` is true or false.")
        }
    }

    private func number(_ name: String) throws -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.int, (1...10_000_000).contains(number) else {
            throw ReplicationRequestError("`\(name)` is a whole number above 0.")
        }
        return number
    }

    private func text(_ name: String) throws -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.string else { throw ReplicationRequestError("`\(name)` is a text.") }
        return text
    }

    func options() throws -> ReplicationOptions {
        var options = ReplicationOptions()
        options.direction = .push
        options.isContinuous = try flag("continuous")
        options.selection = try selection()
        options.batchSize = try number("worker_batch_size") ?? options.batchSize
        if value("use_checkpoints") == .bool(false) { options.usesCheckpoints = false }
        if let since = value("since_seq") { options.since = try since.json() }
        // A job in trouble leaves its place to others for a while.
        options.retry.attempts = 5
        return options
    }

    private func selection() throws -> ReplicationSelection {
        var selection = ReplicationSelection(winnersOnly: try flag("winning_revs_only"))
        guard ["doc_ids", "filter", "selector"].filter({ value($0) != nil }).count <= 1 else {
            throw ReplicationRequestError("Only one of `doc_ids`, `filter` and `selector` can be given.")
        }
        switch value("doc_ids") {
        case nil: break
        case .array(let ids)?:
            let names = ids.compactMap(\.string)
            guard names.count == ids.count else {
                throw ReplicationRequestError("`doc_ids` is a list of IDs.")
            }
            selection.identities = Set(names.map { ByteKey($0) })
        default: throw ReplicationRequestError("`doc_ids` is a list of IDs.")
        }
        if let name = try text("filter") {
            selection.serverFilter = .named(name, parameters: try parameters())
        }
        switch value("selector") {
        case nil: break
        case .dictionary?: selection.serverFilter = .selector(try value("selector")?.json() ?? "{}")
        default: throw ReplicationRequestError("`selector` is a JSON object.")
        }
        return selection
    }

    private func parameters() throws -> [String: String] {
        switch value("query_params") {
        case nil: return [:]
        case .dictionary(let values)?:
            // Names of the same text in other bytes are one here.
            return Dictionary(
                try values.map { ($0.key, try $0.value.string ?? $0.value.json()) }, uniquingKeysWith: { $1 })
        default: throw ReplicationRequestError("`query_params` is a JSON object.")
        }
    }

    func httpOptions() throws -> HTTPOptions {
        var options = HTTPOptions()
        options.connections = try number("http_connections") ?? options.connections
        if let milliseconds = try number("connection_timeout") {
            options.idleSeconds = max(Double(milliseconds) / 1000, 15)
        }
        options.proxy = try text("proxy")
        return options
    }

    func endpoint(_ name: String, _ http: HTTPOptions) throws -> ReplicationRequest.Endpoint {
        switch value(name) {
        case .string(let text)? where text.begins(with: "http://") || text.begins(with: "https://"):
            return .remote(try remote(text, .none, http, name))
        case .string(let text)? where !text.isEmpty: return .local(text)
        case .dictionary(let parts)?:
            guard let url = parts["url"]?.string else {
                throw ReplicationRequestError(
                    "`\(name)` is the URL of a database, or an object with its `url`.")
            }
            return .remote(try remote(url, try credentials(parts, name), http, name))
        default: throw ReplicationRequestError("`\(name)` is the name or the URL of a database.")
        }
    }

    private func credentials(
        _ parts: NamedValues<DocumentValue>, _ name: String
    ) throws -> RemoteDatabase.Credentials {
        if case .dictionary(let auth)? = parts["auth"], case .dictionary(let basic)? = auth["basic"] {
            guard let user = basic["username"]?.string, let password = basic["password"]?.string else {
                throw ReplicationRequestError("`\(name)`.auth.basic has `username` and `password`.")
            }
            return .session(name: user, password: password)
        }
        guard case .dictionary(let headers)? = parts["headers"] else { return .none }
        for (field, value) in headers {
            guard field.lowercased() == "authorization", let value = value.string else {
                throw ReplicationRequestError(
                    "`\(name)`.headers can hold `Authorization`, a text, and nothing else.")
            }
            return .renewed { value }
        }
        return .none
    }

    private func remote(
        _ text: String, _ credentials: RemoteDatabase.Credentials, _ http: HTTPOptions, _ name: String
    ) throws -> RemoteDatabase {
        guard let url = URL(string: text) else {
            throw ReplicationRequestError("`\(name)` is no URL of a database.")
        }
        do {
            return try RemoteDatabase(url, credentials: credentials, options: http)
        } catch {
            throw ReplicationRequestError("`\(name)`: \(error.sentence)")
        }
    }
}
