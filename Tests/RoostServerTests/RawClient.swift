import Foundation
import RoostREST
import RoostServer
import RoostWire
import Synchronization

/// A client that sends what it is told, byte for byte. Its calls block a thread of its own, none of the tasks'.
final class RawClient: Sendable {
    private let socket: Int32
    private let receiving = DispatchQueue(label: "client.receiving")
    private let sending = DispatchQueue(label: "client.sending")
    private let isClosed = Mutex(false)
    private let reset = Mutex(false)

    /// Whether the last thing that was received is that the connection broke off.
    var isReset: Bool { reset.withLock { $0 } }

    /// Connects to a port of this machine.
    init(_ port: UInt16) throws {
        #if canImport(Glibc)
            socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        // Long, since other tests may keep the server from its turn; a test that waits for ever would say less.
        var timeout = timeval(tv_sec: 300, tv_usec: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw CocoaError(.fileReadUnknown) }
    }

    deinit { close() }

    func close() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if !wasClosed { _ = Foundation.close(socket) }
    }

    /// Ends the connection, also for a call that waits.
    func abort() { _ = shutdown(socket, Int32(SHUT_RDWR)) }

    /// Sends no more, and goes on reading.
    func finishSending() { _ = shutdown(socket, Int32(SHUT_WR)) }

    func send(_ text: String) async { await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async {
        let socket = socket
        await blocking(sending) {
            var done = 0
            while done < bytes.count {
                let count = unsafe bytes.withUnsafeBytes {
                    unsafe Foundation.send(
                        socket, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                done += count
            }
        }
    }

    /// The next bytes; `nil` at the end.
    func receive() async -> [UInt8]? {
        await blocking(receiving) { [self] in
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(socket, $0.baseAddress, $0.count, 0)
            }
            reset.withLock { $0 = count < 0 && errno == ECONNRESET }
            return count > 0 ? Array(bytes.prefix(count)) : nil
        }
    }

    private func blocking<R: Sendable>(
        _ queue: DispatchQueue, _ call: @escaping @Sendable () -> R
    ) async -> R {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: call()) }
        }
    }

    /// Everything until the server closes.
    func receiveAll() async -> String {
        var all: [UInt8] = []
        while let bytes = await receive() { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// What comes until `text` has come.
    func receive(until text: String) async -> String {
        var all = ""
        while !all.contains(text), let bytes = await receive() {
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }
}

/// A server over databases in a directory of its own, with a database that everybody may use.
final class TestServer: Sendable {
    let server: HTTPServer
    let router: Router
    private let directory: String

    init(
        trusting proxies: TrustedProxies = .loopback, hooks: Hooks = Hooks(),
        routing: RouterOptions = RouterOptions(),
        _ change: (inout ServerOptions) -> Void = { _ in }
    ) async throws {
        directory = FileManager.default.temporaryDirectory.path + "/roost-server-\(UUID().uuidString)"
        var routing = routing
        routing.trustedProxies = proxies
        // Deriving keys is slow on purpose.
        routing.passwordRounds = 2
        router = Router(try DatabaseDirectory(directory), options: routing, hooks: hooks)
        _ = await router.respond(to: .json("PUT", "/db", ""), as: .admin)
        _ = await router.respond(to: .json("PUT", "/db/_security", "{}"), as: .admin)
        var options = ServerOptions()
        options.port = 0
        options.stopSeconds = 1
        // Other tests may keep the server from its turn, which must not look as if the client were slow.
        options.headSeconds = 300
        options.bodySeconds = 300
        options.idleSeconds = 300
        change(&options)
        server = try HTTPServer(router, options: options)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func connect() throws -> RawClient { try RawClient(server.port) }

    /// Sends `text` and answers everything until the server closes.
    func exchange(_ text: String) async throws -> String {
        let client = try connect()
        await client.send(text)
        return await client.receiveAll()
    }

    /// Asks as an administrator.
    @discardableResult
    func ask(_ method: String, _ target: String, _ body: String? = nil) async throws -> (
        status: Int, text: String
    ) {
        let request = body.map { HTTPRequest.json(method, target, $0) } ?? HTTPRequest(method, target)
        let response = await router.respond(to: request, as: .admin)
        return (response.status, String(decoding: try await response.bytes(), as: UTF8.self))
    }

    /// Waits until so many clients are connected.
    func waitForConnections(_ count: Int) async throws {
        while server.connectionCount != count { try await Task.sleep(for: .milliseconds(5)) }
    }
}
