#if canImport(Darwin)
    import Foundation
    import Network

    // Not yet run: Foundation on Linux has proxies of the environment's only.

    extension URLSessionConfiguration {
        /// Goes through a proxy by tunnels, and never past it; through none for an empty text; through the system's for `nil`.
        func setProxy(_ text: String?) {
            guard let text else { return }
            // An address that is none leads nowhere, rather than past the proxy.
            let url = URL(string: text)
            guard !text.isEmpty else {
                connectionProxyDictionary = [:]
                return
            }
            let host = url?.host(percentEncoded: false) ?? ""
            let port = url?.port.flatMap { UInt16(exactly: $0) } ?? 1080
            let endpoint = NWEndpoint.hostPort(
                host: NWEndpoint.Host(host), port: NWEndpoint.Port(integerLiteral: port))
            let isSecure = url?.scheme?.lowercased() == "https"
            var proxy = ProxyConfiguration(
                httpCONNECTProxy: endpoint, tlsOptions: isSecure ? NWProtocolTLS.Options() : nil)
            proxy.allowFailover = false
            if let user = url?.user(percentEncoded: false) {
                proxy.applyCredential(username: user, password: url?.password(percentEncoded: false) ?? "")
            }
            proxyConfigurations = [proxy]
        }
    }
#endif
