import Foundation
import RoostREST
import Testing

@testable import RoostServer

/// How connections are shared among addresses.
@Suite struct ConnectionTests {
    private let ask = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    private let feed = "GET /db/_changes?feed=continuous&heartbeat=600000 HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// Connections that serve requests are never closed for others.
    @Test func takesNoMoreConnectionsThanItMay() async throws {
        let test = try await TestServer { $0.connections = 2 }
        let clients = try (0..<2).map { _ in try test.connect() }
        for client in clients {
            await client.send(feed)
            _ = await client.receive(until: "\r\n\r\n")
        }
        #expect(try await test.exchange(ask) == "")
        clients[0].close()
        try await test.waitForConnections(1)
        #expect(try await test.exchange(ask).hasPrefix("HTTP/1.1 200 "))
        await test.server.stop()
    }

    /// Who opens all connections there are and says nothing, or half a head, keeps no other client out.
    @Test(arguments: ["", "GET / HT"])
    func idleConnectionsMakeRoom(start: String) async throws {
        let test = try await TestServer {
            $0.connections = 4
            $0.connectionsPerAddress = 4
        }
        let clients = try (0..<4).map { _ in try test.connect() }
        for client in clients where !start.isEmpty { await client.send(start) }
        try await test.waitForConnections(4)
        #expect(try await test.exchange(ask).hasPrefix("HTTP/1.1 200 "))
        // One had to go, and one only.
        try await test.waitForConnections(3)
        clients[3].close()
        try await test.waitForConnections(2)
        #expect(try await test.exchange(ask).hasPrefix("HTTP/1.1 200 "))
        await test.server.stop()
    }

    @Test func anAddressHasAShare() async throws {
        let test = try await TestServer(trusting: try #require(TrustedProxies([]))) {
            $0.connections = 8
            $0.connectionsPerAddress = 2
        }
        let clients = try (0..<2).map { _ in try test.connect() }
        for client in clients {
            await client.send(feed)
            _ = await client.receive(until: "\r\n\r\n")
        }
        #expect(try await test.exchange(ask) == "")
        clients[0].close()
        try await test.waitForConnections(1)
        let idle = try test.connect()
        try await test.waitForConnections(2)
        #expect(try await test.exchange(ask).hasPrefix("HTTP/1.1 200 "))
        #expect(await idle.receive() == nil)
        await test.server.stop()
    }

    // MARK: Which one makes room

    private func client(_ address: String) throws -> ClientTable.Client {
        let ends = try SocketPair()
        let channel = SocketChannel(ends.mine, peer: address, statistics: ServerStatistics())
        return ClientTable.Client(channel: channel, activity: ConnectionActivity(), address: address)
    }

    @Test func theAddressWithMostMakesRoomFirst() throws {
        var table = ClientTable(limit: 5, share: 4)
        let clients = try ["b", "a", "a", "a", "b"].map(client)
        let numbers = clients.map { table.add($0) }
        #expect(clients[1].activity.begin())
        // Of "a", which has most, the one that has waited longest and serves no request.
        guard case .inPlace(let first) = table.admit("c", isExempt: false) else {
            return #expect(Bool(false), "no room")
        }
        #expect(first.activity === clients[2].activity && !clients[2].activity.begin())
        table.remove(numbers[2])
        #expect(table.count == 4)
        // There is room now.
        guard case .free = table.admit("c", isExempt: false) else { return #expect(Bool(false), "no room") }
        for number in numbers { table.remove(number) }
        #expect(table.isEmpty)
    }

    /// Clients of an address that opens many make room in the order in which they have waited, but for those that serve a request since.
    @Test func theOnesThatWaitedLongestMakeRoomInTurn() throws {
        var table = ClientTable(limit: 10, share: 5)
        let clients = try Array(repeating: "a", count: 5).map(client)
        for client in clients { _ = table.add(client) }
        _ = table.add(try client("b"))
        var order: [Int] = []
        for step in 0..<4 {
            // It has been served since the first look, and waits again.
            if step == 1 {
                #expect(clients[1].activity.begin())
                clients[1].activity.end()
            }
            guard case .inPlace(let other) = table.admit("a", isExempt: false) else {
                return #expect(Bool(false), "no room")
            }
            order.append(try #require(clients.firstIndex { $0.activity === other.activity }))
            let next = try client("a")
            _ = table.add(next)
            #expect(next.activity.begin())
        }
        #expect(order == [0, 2, 3, 4])
        guard case .inPlace(let last) = table.admit("a", isExempt: false) else {
            return #expect(Bool(false), "no room")
        }
        #expect(last.activity === clients[1].activity)
    }

    @Test func proxiesHaveNoShare() throws {
        var table = ClientTable(limit: 5, share: 2)
        let clients = try ["a", "a"].map(client)
        for client in clients {
            _ = table.add(client)
            _ = client.activity.begin()
        }
        guard case .refused = table.admit("a", isExempt: false),
            case .free = table.admit("a", isExempt: true),
            case .free = table.admit("b", isExempt: false)
        else { return #expect(Bool(false), "not as it should be") }
    }
}
