import Foundation
import RoostBLIP
import RoostServer
import RoostWire
import Testing

@testable import RoostREST

/// What peers can't do to a server by Couchbase Lite's protocol.
@Suite struct CouchbaseLiteHostilityTests {
    private let one = "1-" + String(repeating: "a1", count: 20)

    /// Bytes that are no BLIP end the connection with a code, and nothing else.
    @Test(
        arguments: [
            [0x01], [0x01, 0x00, 0, 0, 0, 0], [0x01, 0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x02, 0x00, 0x00, 0, 0, 0, 0], [0x01, 0x07, 0, 0, 0, 0, 0],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]])
    func badFramesEndTheConnection(bytes: [UInt8]) async throws {
        let test = try await TestServer()
        var socket = try await RawWebSocket(
            test.server.port, RawWebSocket.request("/db/_blipsync", "BLIP_3+CBMobile_3"))
        await socket.send(.binary(bytes))
        guard case .close(let close)? = try await socket.next() else {
            return #expect(Bool(false), "no close")
        }
        #expect(close.code == 1002)
        await socket.send(.close(close))
        socket.client.close()
        try await test.waitForConnections(0)
        #expect(try await test.ask("GET", "/db").status == 200)
        await test.server.stop()
    }

    /// A peer that sends requests and reads no answers, or that answers nothing, holds a bounded part of the memory.
    @Test func aPeerThatAnswersNothingIsBounded() async throws {
        let test = try await TestServer()
        let text = String(repeating: "0123456789abcdef", count: 8_192)
        for index in 0..<200 { try await test.ask("PUT", "/db/d\(index)", "{\"t\":\"\(text)\"}") }
        var frames = BLIPConnection()
        var socket = try await RawWebSocket(
            test.server.port, RawWebSocket.request("/db/_blipsync", "BLIP_3+CBMobile_3"))
        _ = frames.send(BLIPMessage(["Profile": "subChanges"]))
        while let frame = frames.nextFrame() { await socket.send(.binary(frame)) }
        var isOffered = false
        // Wants everything and says nothing more.
        while !isOffered, case .binary(let bytes)? = try await socket.next() {
            for event in try frames.receive(bytes) {
                guard case .began(let id, let properties, _, _) = event, properties["Profile"] == "changes"
                else { continue }
                let wants = "[" + Array(repeating: "[]", count: 200).joined(separator: ",") + "]"
                frames.reply(to: id, BLIPMessage(["blobs": "true"], body: Array(wants.utf8)))
                isOffered = true
            }
            while let frame = frames.nextFrame() { await socket.send(.binary(frame)) }
        }
        var received = 0
        for _ in 0..<20 {
            guard case .binary(let bytes)? = try await socket.next() else { break }
            received += bytes.count
        }
        // 25 MB are there, and no more is held than what may be unanswered.
        #expect(received > 0)
        #expect(test.router.memory.held < 8 << 20)
        socket.client.close()
        try await test.waitForConnections(0)
        while test.router.memory.held > 0 { try await Task.sleep(for: .milliseconds(5)) }
        await test.server.stop()
    }

    @Test func tooManyOpenRequestsEndTheConnection() async throws {
        let test = try await TestServer()
        var frames = BLIPConnection()
        var socket = try await RawWebSocket(
            test.server.port, RawWebSocket.request("/db/_blipsync", "BLIP_3+CBMobile_3"))
        // Bodies that never end.
        for _ in 0..<100 {
            _ = frames.send(BLIPMessage(["Profile": "rev", "id": "x", "rev": one]), isComplete: false)
            while let frame = frames.nextFrame() { await socket.send(.binary(frame)) }
        }
        var close: WebSocketClose?
        while close == nil, let event = try await socket.next() {
            if case .close(let found) = event { close = found }
        }
        #expect(close.map { [1002, 1008].contains($0.code) } == true)
        socket.client.close()
        try await test.waitForConnections(0)
        await test.server.stop()
    }
}
