import RoostWire

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An Internet address, as the bytes of one of version 6; version 4 is written in it as RFC 4291 maps it.
package struct ClientAddress: Equatable, Sendable {
    let bytes: [UInt8]

    /// Reads an address in figures, also in brackets or with a port; `nil` for anything else.
    init?(_ text: some StringProtocol) {
        var text = String(text)
        if text.utf8.first == UInt8(ascii: "[") {
            text = String(decoding: text.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }, as: UTF8.self)
        } else if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 {
            text = String(decoding: text.utf8.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        }
        // The zone of a link-local address.
        text = String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self)
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            bytes = unsafe Self.mapped + withUnsafeBytes(of: four) { unsafe [UInt8]($0) }
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            bytes = unsafe withUnsafeBytes(of: six) { unsafe [UInt8]($0) }
        } else {
            return nil
        }
    }

    static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    /// What a client has for itself, by a text: an address of version 4, the first half of one of version 6.
    package static func network(of peer: String) -> String {
        guard let address = ClientAddress(peer), !address.bytes.starts(with: mapped) else { return peer }
        return address.bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }
}

/// The proxies that are believed when they tell for whom they ask: by `X-Forwarded-For` and `X-Forwarded-Proto`.
///
/// A proxy must set these fields, or add to `X-Forwarded-For` and set the other, for every request; one that passes on what clients write
/// there lets them choose their addresses.
public struct TrustedProxies: Sendable {
    private struct Network: Sendable {
        let bytes: [UInt8]
        let bits: Int

        func contains(_ address: ClientAddress) -> Bool {
            (0..<16).allSatisfy { index in
                let left = bits - 8 * index
                let mask = left >= 8 ? 0xFF : left <= 0 ? 0 : UInt8(truncatingIfNeeded: 0xFF << (8 - left))
                return (bytes[index] ^ address.bytes[index]) & mask == 0
            }
        }
    }

    private let networks: [Network]

    /// Those of this machine.
    public static let loopback = TrustedProxies(networks: [
        Network(bytes: ClientAddress.mapped + [127, 0, 0, 0], bits: 104),
        Network(bytes: Array(repeating: 0, count: 15) + [1], bits: 128),
    ])

    private init(networks: [Network]) { self.networks = networks }

    /// Proxies by their addresses or networks, such as `10.1.2.3`, `10.0.0.0/8` or `fd00::/8`. An empty list trusts none. `nil` where one
    /// of them is neither.
    public init?(_ list: [String]) {
        var networks: [Network] = []
        for text in list {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let address = ClientAddress(parts[0]) else { return nil }
            let isFour = address.bytes.starts(with: ClientAddress.mapped)
            let most = isFour ? 32 : 128
            guard let bits = parts.count == 1 ? most : Int(parts[1]), (0...most).contains(bits) else {
                return nil
            }
            networks.append(Network(bytes: address.bytes, bits: bits + 128 - most))
        }
        self.networks = networks
    }

    /// Whether the peer of a connection is one of them.
    package func contains(peer: String) -> Bool { ClientAddress(peer).map(contains) ?? false }

    private func contains(_ address: ClientAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// A request as its client sent it to the first proxy: with the client's address, and whether its connection was encrypted.
    func resolved(_ request: HTTPRequest) -> HTTPRequest {
        guard ["X-Forwarded-For", "X-Forwarded-Proto"].contains(where: { request.headers[$0] != nil }),
            let peer = ClientAddress(request.peer), contains(peer)
        else { return request }
        var request = request
        // From the end: what precedes an address that is not trusted, any client may have written.
        let hops = request.headers.all("X-Forwarded-For").joined(separator: ",").split(separator: ",")
        for hop in hops.reversed() {
            let text = HTTPHeaders.trimmed(hop)
            guard let address = ClientAddress(text) else { break }
            request.peer = text
            guard contains(address) else { break }
        }
        let schemes = request.headers.all("X-Forwarded-Proto").joined(separator: ",").split(separator: ",")
        if let scheme = schemes.last {
            request.isSecure = HTTPHeaders.areEqual(HTTPHeaders.trimmed(scheme), "https")
        }
        return request
    }
}
