import Foundation
import Testing

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
