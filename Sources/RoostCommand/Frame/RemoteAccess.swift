import Foundation
import RoostSync

/// How databases elsewhere are reached. Passwords come from files or from the environment; never from the command line, which
/// other users of the machine can read.
enum RemoteAccess {
    static let options = [
        Option("--user", "NAME", "who asks a server; also ROOST_USER in the environment"),
        Option(
            "--password-file", "FILE",
            "the password: the first line of FILE; also ROOST_PASSWORD in the environment"),
        Option("--token-file", "FILE", "a token instead of name and password: the first line of FILE"),
        Option("--certificates", "FILE", "certificates in PEM that are trusted beside the system's"),
        Option(
            "--pins", "LIST",
            "take a server only with one of these public keys: SHA-256 in base64, with commas between them"),
        Option("--proxy", "URL", "the proxy to go through; else the one that the environment names"),
    ]

    /// Whether an argument is the address of a database elsewhere.
    static func isAddress(_ text: String) -> Bool {
        isCouchbase(text) || text.hasPrefix("http://") || text.hasPrefix("https://")
    }

    /// Whether an address is of a server of Couchbase Lite's protocol.
    private static func isCouchbase(_ text: String) -> Bool {
        text.hasPrefix("ws://") || text.hasPrefix("wss://")
    }

    /// A database of the server at an address.
    static func database(
        _ name: String, ofServer address: String, _ invocation: Invocation
    ) throws -> RemoteDatabase {
        var address = address
        while address.hasSuffix("/") { address.removeLast() }
        return try database("\(address)/\(name)", invocation)
    }

    /// The database at an address, with the credentials that the options and the environment lead to.
    static func database(_ text: String, _ invocation: Invocation) throws -> RemoteDatabase {
        guard let url = URL(string: text) else { throw UsageError("\(text) is no address.") }
        guard url.password(percentEncoded: true) == nil else {
            throw UsageError(
                "A password in an address can be read by others on this machine. Give --user and --password-file, "
                    + "or set ROOST_USER and ROOST_PASSWORD.")
        }
        var http = HTTPOptions()
        http.proxy = invocation.string("--proxy")
        if let path = invocation.string("--certificates") {
            http.certificates = String(decoding: try InputFile(path).readAll(limit: 1 << 20), as: UTF8.self)
        }
        http.pinnedKeys = try pins(invocation.string("--pins"))
        let credentials = try Self.credentials(invocation, user: url.user(percentEncoded: false))
        guard !isCouchbase(text) else {
            return try .couchbase(url, credentials: credentials, options: http)
        }
        return try RemoteDatabase(url, credentials: credentials, options: http)
    }

    private static func pins(_ list: String?) throws -> [String] {
        let pins = (list ?? "").split(separator: ",").map(String.init)
        guard pins.allSatisfy({ Data(base64Encoded: $0)?.count == 32 }), list == nil || !pins.isEmpty else {
            throw UsageError("--pins takes SHA-256 digests of public keys in base64, 44 characters each.")
        }
        return pins
    }

    private static func credentials(
        _ invocation: Invocation, user: String?
    ) throws -> RemoteDatabase.Credentials {
        if let path = invocation.string("--token-file") { return .bearer(try InputFile(path).firstLine()) }
        let environment = ProcessInfo.processInfo.environment
        guard let name = invocation.string("--user") ?? user ?? environment["ROOST_USER"] else {
            guard invocation.string("--password-file") == nil else {
                throw UsageError("--password-file needs --user.")
            }
            return .none
        }
        if let path = invocation.string("--password-file") {
            return .session(name: name, password: try InputFile(path).firstLine())
        }
        guard let password = environment["ROOST_PASSWORD"] else {
            throw UsageError("Whose password is \(name)'s? Give --password-file FILE, or set ROOST_PASSWORD.")
        }
        return .session(name: name, password: password)
    }
}

extension InputFile {
    /// The first line, without its end.
    ///
    /// - Throws: ``CommandFailure`` when it is empty.
    func firstLine() throws -> String {
        let line = try readAll(limit: 1 << 20).prefix { $0 != 10 && $0 != 13 }
        guard !line.isEmpty else { throw CommandFailure("\(path) holds nothing in its first line.") }
        return String(decoding: line, as: UTF8.self)
    }
}
