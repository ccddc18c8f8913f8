/// Which names a client may know the server by.
struct HostCheck: Sendable {
    private let isLoopback: Bool
    private let names: Set<String>

    init(_ options: ServerOptions) {
        isLoopback = options.address.hasPrefix("127.") || options.address == "::1"
        names = Set(options.hosts.map { $0.lowercased() })
    }

    /// Whether `Host` is a name of this machine, or one that was listed.
    func permits(_ host: String?) -> Bool {
        guard isLoopback, let host = host?.lowercased() else { return true }
        if names.contains(host) { return true }
        let name: Substring
        let port: Substring
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            name = host[host.index(after: host.startIndex)..<end]
            port = host[host.index(after: end)...]
        } else {
            name = host.prefix { $0 != ":" }
            port = host[name.endIndex...]
        }
        // A name may go on where a port is expected.
        guard port.isEmpty || port.first == ":" && (port.count == 1 || UInt16(port.dropFirst()) != nil) else {
            return false
        }
        return name == "localhost" || name == "::1" || names.contains(String(name)) || Self.isLoopback(name)
    }

    private static func isLoopback(_ name: Substring) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
