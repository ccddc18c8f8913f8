import RoostREST
import RoostWire

/// The same requests to the router, without sockets: what is left of ``RoostHTTP`` without the listener. Each client is a task.
final class RoostRouter: ServerContender {
    let isConstant = false
    private let router: Router

    init(_ directory: String) throws { router = try RoostHTTP.router(directory) }

    func perform(
        clients: Int, _ next: @escaping @Sendable (_ client: Int, _ number: Int) -> ServerRequest?
    ) throws -> Int {
        try Blocking.wait { [router] in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for client in 0..<clients {
                    group.addTask { try await Self.perform(router) { next(client, $0) } }
                }
                return try await group.reduce(0, +)
            }
        }
    }

    private static func perform(
        _ router: Router, _ next: @Sendable (_ number: Int) -> ServerRequest?
    ) async throws -> Int {
        let headers: HTTPHeaders = [
            "Host": "127.0.0.1", "Content-Type": "application/json",
            "Authorization": "Basic YWRhOmxvdmVsYWNl",
        ]
        var number = 0
        while let request = next(number) {
            let response = await router.respond(
                to: HTTPRequest(
                    request.method, request.target, headers: headers,
                    body: request.body.isEmpty ? nil : BytesBody(request.body)))
            guard response.status == request.status else {
                throw BenchmarkError("\(request.target) was answered with \(response.status)")
            }
            if case .stream(let body, _) = response.body { while try await body.next() != nil {} }
            number += 1
        }
        return number
    }

    func close() {}

    static let entry: ContenderEntry = {
        var entry = ContenderEntry(
            name: "roost-router", title: "Roost, no sockets", kind: .roost,
            configuration:
                "the router asked by tasks of its own process; in the rows S two databases of one process, without HTTP",
            rows: [
                .bulkInserts, .puts, .gets, .scriptedView, .replication, .attachmentReplication,
                .channelWrites,
                .channelFeeds,
            ],
            open: { _ in throw BenchmarkError("the router is asked by requests") })
        entry.server = { try RoostRouter($0) }
        entry.replication = { try RoostReplication($0, overHTTP: false) }
        return entry
    }()
}
