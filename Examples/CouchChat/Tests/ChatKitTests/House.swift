import ChatKit
import ChatService
import Foundation
import RoostServer
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server of the chat that can go away and come back, and devices of its users, in a directory of its own.
actor House {
    /// An answer has not come in a minute.
    struct Late: Error {}

    private static let administratorsPassword = "of the tests"
    private let directory = FileManager.default.temporaryDirectory.path + "/couchchat-\(UUID().uuidString)"
    private var server: HTTPServer?
    private var port: UInt16 = 0
    private var devices: [ChatClient] = []

    init() async throws { try await open() }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Lets the server listen, from the second time on at the port that it had.
    func open() async throws {
        let service = try await ChatService(
            directory + "/server", administrator: ("admin", Self.administratorsPassword),
            passwordRounds: 1)
        var options = ServerOptions()
        options.port = port
        options.stopSeconds = 1
        let server = try HTTPServer(service, options: options)
        (self.server, port) = (server, server.port)
    }

    /// Has the server go away.
    func close() async {
        await server?.stop()
        server = nil
    }

    /// Ends everything.
    func end() async throws {
        for device in devices { try await device.close() }
        await close()
    }

    func account(_ name: String) -> Account {
        var address = URLComponents()
        (address.scheme, address.host, address.port) = ("http", "127.0.0.1", Int(port))
        return Account(
            server: address.url ?? URL(filePath: "/"), name: name, password: "\(name) and the swifts")
    }

    /// Somebody signs up and begins on a device.
    func join(_ name: String) async throws -> ChatClient {
        try await account(name).signUp()
        let client = try device(of: name)
        try client.introduce(as: name.capitalized)
        return client
    }

    /// A new device of somebody who has an account.
    func device(of name: String) throws -> ChatClient {
        let client = try ChatClient(
            "\(directory)/device-\(devices.count)", key: .random(), account: account(name))
        devices.append(client)
        return client
    }

    /// Posts a document as somebody by plain HTTP, without ChatKit.
    func post(_ document: [String: String], as name: String) async throws -> (status: Int, text: String) {
        let body = try JSONEncoder().encode(document)
        return try await ask("POST", "chat", body, as: name, account(name).password)
    }

    /// Has the administrator delete an account.
    func deleteAccount(_ name: String) async throws {
        let path = "_users/org.couchdb.user:\(name)"
        let account = try await ask("GET", path, as: "admin", Self.administratorsPassword).text
        let revision = try #require(account.firstMatch(of: /"_rev":"([^"]+)"/)).1
        let answer = try await ask(
            "DELETE", path, query: "rev=\(revision)", as: "admin", Self.administratorsPassword)
        #expect(answer.status == 200, "\(answer)")
    }

    private func ask(
        _ method: String, _ path: String, query: String? = nil, _ body: Data? = nil, as name: String,
        _ password: String
    ) async throws -> (status: Int, text: String) {
        var address = URLComponents(
            url: account(name).server.appending(path: path), resolvingAgainstBaseURL: false)
        address?.query = query
        var request = URLRequest(url: try #require(address?.url))
        request.httpMethod = method
        request.httpBody = body
        let login = Data("\(name):\(password)".utf8).base64EncodedString()
        request.setValue("Basic \(login)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (answer, response) = try await URLSession.shared.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: answer, as: UTF8.self))
    }
}

/// Waits until a sequence shows what is wanted.
///
/// - Throws: ``House/Late`` where that does not come.
@discardableResult
func wait<S: AsyncSequence & Sendable>(
    for sequence: S, until isWanted: @escaping @Sendable (S.Element) -> Bool
) async throws -> S.Element where S.Element: Sendable {
    try await withThrowingTaskGroup(of: S.Element?.self) { group in
        group.addTask {
            for try await element in sequence where isWanted(element) { return element }
            return nil
        }
        group.addTask {
            try await Task.sleep(for: .seconds(60))
            return nil
        }
        defer { group.cancelAll() }
        guard let element = try await group.next() ?? nil else { throw House.Late() }
        return element
    }
}
