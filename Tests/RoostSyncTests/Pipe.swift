import Roost
import RoostBLIP
import RoostREST
import RoostWire
import Synchronization

@testable import RoostSync

/// One end of a WebSocket within the process, which may break after so many messages.
final class Pipe: OpenedWebSocket {
    private struct State {
        var inbox: [WebSocketMessage] = []
        var ending: WebSocketClose?
        var reader: Promise<Void>?
    }

    private let state = Mutex(State())
    private let peer = Mutex<Pipe?>(nil)
    /// How many more messages go, in both directions together.
    private let left: Shared

    private final class Shared: Sendable {
        let count: Mutex<Int>
        init(_ count: Int) { self.count = Mutex(count) }
    }

    private init(_ left: Shared) { self.left = left }

    static func pair(cutAfter count: Int = .max) -> (client: Pipe, server: Pipe) {
        let left = Shared(count)
        let ends = (client: Pipe(left), server: Pipe(left))
        ends.client.peer.withLock { $0 = ends.server }
        ends.server.peer.withLock { $0 = ends.client }
        return ends
    }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { state -> Promise<Void>? in
            change(&state)
            return state.reader.take()
        }?.keep()
    }

    func receive() async throws -> WebSocketMessage? {
        while true {
            let promise = Promise<Void>()
            let found = state.withLock { state -> (WebSocketMessage?, WebSocketClose?) in
                if !state.inbox.isEmpty { return (state.inbox.removeFirst(), nil) }
                if state.ending == nil { state.reader = promise }
                return (nil, state.ending)
            }
            if let message = found.0 { return message }
            if let close = found.1 {
                guard close.code == 1006 else { return nil }
                throw close
            }
            try await promise.value()
        }
    }

    func send(_ message: WebSocketMessage) async throws {
        if let ending = state.withLock(\.ending) { throw ending }
        let isCut = left.count.withLock { count in
            count -= count == .max ? 0 : 1
            return count < 0
        }
        guard !isCut else {
            end(WebSocketClose(1006, "The pipe broke."))
            throw WebSocketClose(1006, "The pipe broke.")
        }
        peer.withLock(\.self)?.change { $0.inbox.append(message) }
    }

    func close(_ reason: WebSocketClose) async { end(reason) }

    private func end(_ close: WebSocketClose) {
        change { $0.ending = $0.ending ?? close }
        peer.withLock { peer in
            defer { peer = nil }
            return peer
        }?.end(close)
    }
}

extension RemoteDatabase {
    /// A database of a router in this process, over pipes.
    ///
    /// - Parameter cut: After how many messages the next pipe breaks.
    static func piped(
        _ router: Router, _ name: String = "notes", idleSeconds: Double = 60,
        cut: @escaping @Sendable () -> Int = { .max }
    ) -> RemoteDatabase {
        RemoteDatabase(
            CouchbaseServer("wss://test/\(name)", idleSeconds: idleSeconds) {
                let request = WebSocketHandshake.request(
                    "/\(name)/_blipsync", protocols: ["BLIP_3+CBMobile_3"], key: WebSocketOpening.makeKey())
                let response = await router.respond(to: request, as: .admin)
                guard let upgrade = response.upgrade else {
                    throw TransportError(.unreachable, "The router answered \(response.status).")
                }
                let ends = Pipe.pair(cutAfter: cut())
                Task { await ends.server.close(await upgrade.serve(ends.server)) }
                return ends.client
            })
    }

    /// A server that says what a test has it say.
    static func scripted(
        idleSeconds: Double = 60,
        _ answer: @escaping @Sendable (BLIPSession.Request, BLIPSession) async -> BLIPSession.Answer
    ) -> RemoteDatabase {
        RemoteDatabase(
            CouchbaseServer("wss://test/scripted", idleSeconds: idleSeconds) {
                let ends = Pipe.pair()
                let session = BLIPSession(ends.server, memory: LinkMemory())
                Task { await ends.server.close(await session.run { await answer($0, session) }) }
                return ends.client
            })
    }
}

/// A server of Couchbase Lite's protocol that says what a test has it say.
final class CouchbaseScript: Sendable {
    struct State {
        var checkpoints: [String: (revision: Int, body: [UInt8])] = [:]
        var isStoredWhenAnswered: [String: Bool] = [:]
        var refusals: [Int] = []
    }

    let state = Mutex(State())

    /// Answers all that has to do with collections and checkpoints.
    func answer(_ request: BLIPSession.Request) async -> BLIPSession.Answer {
        let body = (try? await request.body.collect()) ?? []
        let client = request.properties["client"] ?? ""
        switch request.profile {
        case "getCollections": return .message(BLIPMessage(body: Array("[{}]".utf8)))
        case "getCheckpoint":
            guard let found = state.withLock({ $0.checkpoints[client] }) else {
                return .failure(BLIPMessage(errorIn: "HTTP", code: 404, "missing"))
            }
            return .message(BLIPMessage(["rev": "\(found.revision)-cc"], body: found.body))
        case "setCheckpoint":
            let revision = state.withLock { state in
                let revision = (state.checkpoints[client]?.revision ?? 0) + 1
                state.checkpoints[client] = (revision, body)
                return revision
            }
            return .message(BLIPMessage(["rev": "\(revision)-cc"]))
        default: return .failure(BLIPMessage(errorIn: "BLIP", code: 404, "no"))
        }
    }

    static let revision = "1-" + String(repeating: "ab", count: 20)

    static func revisionMessage(
        _ id: String, _ body: String = "{}", sequence: Int = 1
    ) -> BLIPMessage {
        BLIPMessage(
            [
                "Profile": "rev", "collection": "0", "id": id, "rev": revision, "sequence": "\(sequence)",
            ], body: Array(body.utf8))
    }

    static func list(_ ids: [String]) -> BLIPMessage {
        let rows = ids.enumerated().map { "[\($0.offset + 1),\"\($0.element)\",\"\(revision)\"]" }
        return BLIPMessage(
            ["Profile": "changes", "collection": "0"], body: Array("[\(rows.joined(separator: ","))]".utf8))
    }

    static let end = BLIPMessage(["Profile": "changes", "collection": "0"], body: Array("[]".utf8))

    /// A server with some changes.
    ///
    /// - Parameters:
    ///   - lookedUp: The documents that it knows when it is asked for some by their IDs, and what it sends of them when they are wanted.
    ///   - send: Sends what it likes after the client has answered the list.
    func server(
        _ ids: [String], idleSeconds: Double = 60, endsEarly: Bool = false,
        blob: [UInt8] = [],
        lookedUp: (ids: [String], send: @Sendable (BLIPSession) async throws -> Void) = ([], { _ in }),
        _ send: @escaping @Sendable (BLIPSession) async throws -> Void
    ) -> RemoteDatabase {
        .scripted(idleSeconds: idleSeconds) { request, session in
            switch request.profile {
            case "getAttachment": return .stream(BLIPMessage(), BytesBody(blob))
            case "subChanges":
                let isLookUp = (try? await request.body.collect())?.isEmpty == false
                let isAtEnd = request.properties["since"] == "\(ids.count)"
                let (found, sendFound) = lookedUp
                Task {
                    if isLookUp {
                        if !found.isEmpty {
                            let (answer, _) = try await session.reply(to: Self.list(found))
                            if answer.body.contains(UInt8(ascii: "[")), answer.body.count > 3 {
                                try await sendFound(session)
                            }
                        }
                    } else if !isAtEnd {
                        _ = try await session.reply(to: Self.list(ids))
                        if endsEarly { await session.notify(Self.end) }
                        try await send(session)
                    }
                    if isLookUp || !endsEarly { await session.notify(Self.end) }
                }
                return .done
            default: return await self.answer(request)
            }
        }
    }
}
