import Fleece
import Foundation
import Roost
import RoostREST
import RoostScript
import RoostWire

/// A router with a sync function, asked by tasks of its process.
struct RoostChannels: Sendable {
    private static let target = "/bench"
    private let router: Router

    /// - Parameter sync: What decides on documents; `nil` for a router without channels.
    init(_ directory: String, sync: SyncFunction?) async throws {
        var hooks = Hooks()
        hooks.sync = sync
        router = Router(try DatabaseDirectory(directory), hooks: hooks)
        try await ask("PUT", "", wants: 201)
        try await ask("PUT", "/_security", body: Array(#"{"members": {}}"#.utf8), wants: 200)
    }

    /// Puts a document into the channels that it names, and gives the access that it names.
    static let swift = SyncFunction { document, _, sync in
        sync.channel((document["channels"].array ?? .empty).compactMap(\.string))
        for (user, channels) in document["access"].dictionary ?? .empty {
            sync.access([user], (channels.array ?? .empty).compactMap(\.string))
        }
    }

    /// The same in JavaScript; `nil` where no child can be started.
    static func javaScript() throws -> SyncFunction? {
        guard let program = Bundle.main.executablePath else { return nil }
        return try JavaScript(program: [program, RoostHTTP.scriptWorker]).syncFunction(
            """
            function (doc, oldDoc) {
              channel(doc.channels);
              for (var user in doc.access || {}) access(user, doc.access[user]);
            }
            """)
    }

    /// Asks as an administrator; the answer's body is passed over.
    func ask(_ method: String, _ path: String, body: [UInt8] = [], wants status: Int) async throws {
        let request = HTTPRequest(
            method, Self.target + path, headers: ["Content-Type": "application/json"],
            body: body.isEmpty ? nil : BytesBody(body))
        let response = await router.respond(to: request, as: .admin)
        guard response.status == status else {
            throw BenchmarkError("\(method) \(path) was answered with \(response.status)")
        }
        if case .stream(let body, _) = response.body { while try await body.next() != nil {} }
    }

    /// Saves documents, JSON texts, in one request.
    func save(_ documents: [String]) async throws {
        let body = "{\"docs\":[\(documents.joined(separator: ","))]}"
        try await ask("POST", "/_bulk_docs", body: Array(body.utf8), wants: 201)
    }

    /// The changes that a user sees.
    func changes(of user: String, _ query: String) async throws -> any BodyStream {
        let response = await router.respond(
            to: .get("\(Self.target)/_changes?\(query)"), as: UserContext(name: user))
        guard response.status == 200, case .stream(let body, _) = response.body else {
            throw BenchmarkError("the changes were answered with \(response.status)")
        }
        return body
    }
}
