import Foundation
import RoostREST
import Testing

@testable import RoostServer

/// One connected socket, without a network.
@Suite struct SocketChannelTests {
    /// Both ends of a connection.
    private func pair() throws -> (channel: SocketChannel, peer: Int32) {
        let ends = try SocketPair()
        _ = fcntl(ends.mine, F_SETFL, fcntl(ends.mine, F_GETFL) | O_NONBLOCK)
        let channel = SocketChannel(ends.mine, peer: "peer", statistics: ServerStatistics())
        return (channel, ends.peer)
    }

    private static let second: UInt64 = 1_000_000_000

    /// A busy server must not take its own delay for the silence of its client: closing would lose the answer.
    @Test func whatIsNotReadYetIsNoSilence() async throws {
        let (channel, peer) = try pair()
        defer { close(peer) }
        channel.setLongestSilence(Self.second)
        _ = unsafe send(peer, "ab", 2, 0)
        channel.checkDeadline(SocketChannel.now + 100 * Self.second)
        #expect(await channel.read() == Array("ab".utf8))
        channel.checkDeadline(SocketChannel.now + 100 * Self.second)
        _ = unsafe send(peer, "c", 1, 0)
        #expect(await channel.read() == Array("c".utf8))
    }

    @Test func silenceEndsTheConnection() async throws {
        let (channel, peer) = try pair()
        defer { close(peer) }
        channel.setLongestSilence(Self.second)
        let checks = Task {
            while !Task.isCancelled {
                channel.checkDeadline(SocketChannel.now + 100 * Self.second)
                await Task.yield()
            }
        }
        #expect(await channel.read() == nil)
        checks.cancel()
        await checks.value
    }
}

/// Two sockets that are connected with each other, without a network.
struct SocketPair {
    let mine, peer: Int32

    init() throws {
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        var ends: [Int32] = [0, 0]
        try #require(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        (mine, peer) = (ends[0], ends[1])
    }
}
