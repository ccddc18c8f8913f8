import Foundation
import Roost
import RoostREST
import RoostScript
import RoostServer
import RoostWire

/// Roost's server over loopback, in the process of its clients. An administrator asks, with name and password in each request.
final class RoostHTTP: ServerContender {
    /// What a child that runs scripts is started with.
    static let scriptWorker = "--run-scripts"
    private static let fields = "Authorization: Basic YWRhOmxvdmVsYWNl\r\n"
    static let credentials = (name: "ada", password: "lovelace")

    let isConstant = false
    let router: Router
    let server: HTTPServer

    init(_ directory: String) throws {
        router = try Self.router(directory)
        var options = ServerOptions()
        options.port = 0
        options.connections = 2_048
        server = try HTTPServer(router, options: options)
    }

    static func router(_ directory: String) throws -> Router {
        var options = RouterOptions()
        options.admins = [credentials.name: credentials.password]
        var hooks = Hooks()
        if let program = Bundle.main.executablePath {
            hooks.languages = [JavaScript(program: [program, scriptWorker])]
        }
        return Router(try DatabaseDirectory(directory), options: options, hooks: hooks)
    }

    func perform(
        clients: Int, _ next: @escaping @Sendable (_ client: Int, _ number: Int) -> ServerRequest?
    ) throws -> Int {
        try perform(clients: clients, port: server.port, fields: Self.fields, next)
    }

    /// A connection to it.
    func client() throws -> HTTPClient { try HTTPClient(port: server.port, fields: Self.fields) }

    func close() throws { try Blocking.wait { [server] in await server.stop() } }

    static let entry: ContenderEntry = {
        var entry = ContenderEntry(
            name: "roost-http", title: "Roost, HTTP", kind: .roost,
            configuration:
                "RoostServer over loopback with its defaults, in the process of its clients, with which it shares the cores; "
                + "every write durable before it is answered; basic authentication",
            rows: Row.ofServer.union(Row.ofReplication),
            open: { _ in throw BenchmarkError("the server is asked over HTTP") })
        entry.server = { try RoostHTTP($0) }
        entry.replication = { try RoostReplication($0, overHTTP: true) }
        return entry
    }()
}
