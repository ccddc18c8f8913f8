import Foundation
import RoostREST
import RoostWire

/// A router with a database that everybody may use, and with a language for functions.
final class ScriptRouter: Sendable {
    struct Answer {
        let status: Int
        let text: String

        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        }

        /// The documents of the rows, or of the changes.
        var ids: [String] {
            let rows = (json["rows"] ?? json["results"]) as? [[String: Any]] ?? []
            return rows.compactMap { $0["id"] as? String }
        }
    }

    private let router: Router
    private let directory: String

    /// The program ScriptHost, which is built beside the tests.
    static let host: String = {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            let directory = (bundle ?? .main).bundleURL.deletingLastPathComponent()
        #else
            let directory = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        #endif
        return directory.appendingPathComponent("ScriptHost").path
    }()

    init(_ language: any DesignLanguage, sync: SyncFunction? = nil) async throws {
        directory = FileManager.default.temporaryDirectory.path + "/roost-script-\(UUID().uuidString)"
        var hooks = Hooks()
        hooks.languages = [language]
        hooks.sync = sync
        router = Router(try DatabaseDirectory(directory), hooks: hooks)
        try await ask("PUT", "/db")
        try await ask("PUT", "/db/_security", "{}")
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    @discardableResult
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, as user: UserContext = .admin,
        headers: HTTPHeaders = HTTPHeaders()
    ) async throws -> Answer {
        var headers = headers
        headers["Content-Type"] = "application/json"
        let response = await router.respond(
            to: HTTPRequest(
                method, target, headers: headers, body: body.map { BytesBody(Array($0.utf8)) }), as: user)
        return Answer(
            status: response.status, text: String(decoding: try await response.bytes(), as: UTF8.self))
    }

    /// The revision of a document.
    func revision(_ target: String) async throws -> String {
        guard let revision = try await ask("GET", target).json["_rev"] as? String else {
            throw CocoaError(.fileNoSuchFile)
        }
        return revision
    }
}
