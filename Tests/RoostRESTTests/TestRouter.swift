import Dispatch
import Foundation
import RoostREST
import RoostWire
import Synchronization
import Testing

/// A router over databases in a directory of its own, asked without sockets.
final class TestRouter: Sendable {
    /// An answer, read to its end.
    struct Answer {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        /// The body as JSON; null for none.
        var json: Any {
            (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) ?? NSNull()
        }

        /// A member of the body.
        subscript(_ name: String) -> Any? { (json as? [String: Any])?[name] }
    }

    let router: Router
    let directory: String
    private let options: RouterOptions
    private let hooks: Hooks

    init(_ change: (inout RouterOptions, inout Hooks) -> Void = { _, _ in }) throws {
        directory = FileManager.default.temporaryDirectory.path + "/roost-rest-\(UUID().uuidString)"
        var options = RouterOptions()
        // Deriving keys is slow on purpose; what is tested here is what becomes of them.
        options.passwordRounds = 2
        var hooks = Hooks()
        change(&options, &hooks)
        (self.options, self.hooks) = (options, hooks)
        router = Router(try DatabaseDirectory(directory), options: options, hooks: hooks)
    }

    /// A router of what the process of another one would leave if it were killed now: its files as they are.
    init(afterKilling other: TestRouter) throws {
        directory = FileManager.default.temporaryDirectory.path + "/roost-rest-\(UUID().uuidString)"
        (options, hooks) = (other.options, other.hooks)
        try FileManager.default.copyItem(atPath: other.directory, toPath: directory)
        router = Router(try DatabaseDirectory(directory), options: options, hooks: hooks)
    }

    /// A router of the same database `db`, compacted, in whose file a byte of a text is another one, so that the document with that text
    /// can't be read.
    func damaged(at text: String) async throws -> TestRouter {
        let database = try #require(try router.databases.database("db"))
        _ = try await database.compact()
        try router.databases.close()
        let copy = try TestRouter(afterKilling: self)
        let path = copy.directory + "/db.roost/data.roost"
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(data.range(of: Data(text.utf8)))
        data[place.lowerBound] ^= 1
        try data.write(to: URL(fileURLWithPath: path))
        return copy
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// Asks as `user`, with a JSON body where there is one.
    @discardableResult
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, headers: HTTPHeaders = HTTPHeaders(),
        as user: UserContext = .admin
    ) async throws -> Answer {
        try await router.ask(method, target, body, headers: headers, as: user)
    }

    /// Asks as whoever the fields say, as a listener does.
    func askAsListener(
        _ method: String, _ target: String, _ body: String? = nil, headers: HTTPHeaders = HTTPHeaders(),
        peer: String = "192.0.2.1"
    ) async throws -> Answer {
        var request = HTTPRequest.forTest(method, target, body, headers)
        request.peer = peer
        return try await Self.read(await router.respond(to: request))
    }

    static func read(_ response: HTTPResponse) async throws -> Answer {
        Answer(
            status: response.status, headers: response.headers,
            text: String(decoding: try await response.bytes(), as: UTF8.self))
    }

    /// Saves a document and answers its revision.
    @discardableResult
    func put(_ target: String, _ body: String) async throws -> String {
        let answer = try await ask("PUT", target, body)
        return try #require(answer["rev"] as? String, "\(target): \(answer.text)")
    }
}

/// `Authorization` for a name and a password.
func basic(_ name: String, _ password: String) -> HTTPHeaders {
    ["Authorization": "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()]
}

extension HTTPRequest {
    /// A request with a JSON body where there is one.
    fileprivate static func forTest(
        _ method: String, _ target: String, _ body: String?, _ headers: HTTPHeaders
    ) -> HTTPRequest {
        var headers = headers
        if headers["Content-Type"] == nil { headers["Content-Type"] = "application/json" }
        return HTTPRequest(
            method, target, headers: headers, body: body.map { BytesBody(Array($0.utf8)) })
    }
}

extension Router {
    /// Asks as `user`, with a JSON body where there is one.
    @discardableResult
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, headers: HTTPHeaders = HTTPHeaders(),
        as user: UserContext = .admin
    ) async throws -> TestRouter.Answer {
        try await TestRouter.read(await respond(to: .forTest(method, target, body, headers), as: user))
    }
}

extension TestRouter {
    /// A database with documents of one to eight stars, every other of the kind "a".
    static func stars() async throws -> TestRouter {
        let test = try TestRouter()
        try await test.ask("PUT", "/db")
        for number in 1...8 {
            _ = try await test.put(
                "/db/d\(number)",
                #"{"stars":\#(number),"kind":"\#(number % 2 == 0 ? "a" : "b")","t":["x",\#(number)]}"#)
        }
        return test
    }
}

/// Where a function of a test stops, on a thread that is no task's, until the test has seen what it wants to see.
final class TestGate: Sendable {
    private let arrivals = Atomic(0)
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOpen = Atomic(false)

    /// Stops until the gate is opened.
    func pass() {
        arrivals.add(1, ordering: .sequentiallyConsistent)
        while !isOpen.load(ordering: .sequentiallyConsistent) {
            if semaphore.wait(timeout: .now() + 0.005) == .success { return }
        }
    }

    /// Lets all pass from now on.
    func open() { isOpen.store(true, ordering: .sequentiallyConsistent) }

    /// Returns when so many have come to the gate.
    func wait(for count: Int) async throws {
        while arrivals.load(ordering: .sequentiallyConsistent) < count {
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
