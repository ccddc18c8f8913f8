import RoostWire
import Synchronization

@testable import RoostSync

/// A network between a client and a server in the same process that loses, delays, repeats and cuts what it carries, and puts
/// errors of its own in the place of answers, as a seed has it.
final class SimulatedNetwork: Transport {
    private let respond: @Sendable (HTTPRequest) async -> HTTPResponse
    private let random: SharedRandom
    /// One request in so many meets each kind of trouble; 0 for none.
    private let rarity: Int

    init(seed: UInt64, rarity: Int, _ respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
        self.respond = respond
        self.rarity = rarity
        random = SharedRandom(seed)
    }

    private func trouble() -> Bool { rarity > 0 && random.happens(onceIn: rarity) }

    private static func cut() -> TransportError {
        TransportError(.interrupted, "The network cut the connection.")
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        if trouble() { throw TransportError(.unreachable, "The network lost the request.") }
        if trouble() {
            let status = [429, 500, 502, 503][random.next(below: 4)]
            return HTTPResponse(status, body: .bytes(Array("<html>\(status)</html>".utf8)))
        }
        var request = request
        if trouble(), let body = request.body { request.body = CutBody(body, after: random.next(below: 3)) }
        if trouble() { for _ in 0..<random.next(below: 50) { await Task.yield() } }
        if trouble(), request.headers["Content-Type"] == "application/json", let body = request.body {
            let bytes = try await body.collect()
            request.body = BytesBody(bytes)
            _ = await respond(request)
            request.body = BytesBody(bytes)
        }
        let response = await respond(request)
        if trouble() { throw Self.cut() }
        guard trouble() else { return response }
        var short = response
        switch response.body {
        case .none: break
        case .bytes(let bytes):
            let part = Array(bytes.prefix(random.next(below: bytes.count + 1)))
            short.body = .stream(CutBody(BytesBody(part), after: 1), length: nil)
        case .stream(let stream, _):
            short.body = .stream(CutBody(stream, after: random.next(below: 3)), length: nil)
        }
        return short
    }

    /// A body of which only some pieces arrive.
    private actor CutBody: BodyStream {
        private let body: any BodyStream
        private var left: Int

        init(_ body: any BodyStream, after count: Int) {
            self.body = body
            left = count
        }

        func next() async throws -> [UInt8]? {
            guard left > 0, let bytes = try await body.next() else { throw SimulatedNetwork.cut() }
            left -= 1
            return bytes
        }
    }
}
