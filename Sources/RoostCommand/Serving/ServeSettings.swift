import Foundation
import RoostQuery
import RoostREST
import RoostServer

/// The settings of `roost serve`, from its arguments and the file that they name: checked, and not yet in use.
struct ServeSettings {
    /// The directory of the databases.
    let directory: String
    /// Where to listen, without log and certificate.
    let server: ServerOptions
    let router: RouterOptions
    let log: String?
    /// Where messages of the running server go; `-` is standard error.
    let errorLog: String
    let identity: TLSIdentity?
    let syncFunction: String?
    let takesTurns: Bool
    /// The administrator who was made up since none was named.
    let generated: Administrator?

    struct Administrator {
        let name: String
        let password: String

        /// One with a random password.
        static func random() -> Self {
            var generator = SystemRandomNumberGenerator()
            let digits = (0..<4).map { _ in String(generator.next() as UInt64, radix: 36) }
            return Self(name: "roost", password: digits.joined())
        }
    }

    static let options = [
        Option("--config", "FILE", "read settings from FILE: a line NAME = VALUE for each option below"),
        Option("--directory", "DIR", "the directory of the databases, in a file of settings"),
        Option("--port", "N", "the port; 0 takes a free one (default 5984)"),
        Option("--address", "A", "the address to listen at, in figures (default 127.0.0.1)"),
        Option("--admin", "NAME", "the name of the administrator"),
        Option("--password-file", "FILE", "the administrator's password: the first line of FILE"),
        Option("--admins", "FILE", "several administrators: a line NAME:PASSWORD for each"),
        Option(
            "--origins", "LIST",
            "origins of web pages that may send requests, with commas between them; * for all, without credentials"
        ),
        Option(
            "--trusted-proxies", "LIST",
            "addresses or networks of proxies whose X-Forwarded-For and -Proto are believed, or none (default: this machine's)"
        ),
        Option(
            "--hosts", "LIST", "names besides this machine's that clients may use, with commas between them"),
        Option("--connections", "N", "how many connections there may be at a time (default 1024)"),
        Option(
            "--connections-per-address", "N",
            "how many of them one address may have (default: three quarters)"),
        Option("--request-memory", "MIB", "how much memory all requests together may hold (default 192)"),
        Option("--longest-attachment", "MIB", "how long an attachment may be (default 1024)"),
        Option("--longest-work", "SECONDS", "how long the server works on one request (default 300)"),
        Option("--session", "SECONDS", "how long a session lasts that is not used (default 600)"),
        Option(
            "--rate-per-address", "N",
            "how many requests a minute one address may send; others get 429 (default: any number)"),
        Option("--rate-per-user", "N", "how many requests a minute one user may send (default: any number)"),
        Option("--log", "FILE", "appends a line for each request to FILE; - for standard error"),
        Option("--log-format", "F", "common (the default), or json: a JSON object a line"),
        Option(
            "--error-log", "FILE",
            "appends a line with its time for each failure of the server to FILE (default: standard error)"),
        Option("--certificate", "FILE", "serve over TLS, with this certificate and its chain in PEM"),
        Option("--key", "FILE", "the certificate's private key in PEM, not encrypted"),
        Option(
            "--sync-function", "FILE",
            "a function in JavaScript that decides who may write and see which documents"),
        Option(
            "--guests", nil, "who has not logged in may use databases, too, where there is a sync function"),
        Option("--take-turns", nil, "other programs may write the databases, too, by turns with the server"),
        Option("--plain", nil, "listen beyond this machine although nothing is encrypted on the way"),
    ]

    /// Reads and checks everything that the arguments and the files say which they name.
    ///
    /// - Parameter generated: The administrator who was made up when the server began.
    /// - Throws: ``UsageError`` or ``CommandFailure``, which say what is wrong.
    init(_ arguments: Invocation, generated: Administrator? = nil) throws {
        var invocation = arguments
        if let path = arguments.string("--config") {
            let file = try ConfigurationFile(path, Self.options.filter { $0.name != "--config" })
            invocation = arguments.completed(by: file)
        }
        guard let directory = invocation.optional(0) ?? invocation.string("--directory") else {
            throw UsageError("DIR is missing.")
        }
        self.directory = directory
        identity = try Self.identity(invocation)
        server = try Self.server(invocation, isEncrypted: identity != nil)
        log = invocation.string("--log")
        errorLog = invocation.string("--error-log") ?? "-"
        syncFunction = invocation.string("--sync-function")
        takesTurns = invocation.has("--take-turns")
        let admins = try Self.administrators(invocation)
        self.generated = admins.isEmpty ? generated ?? .random() : nil
        router = try Self.router(
            invocation, admins.isEmpty ? self.generated.map { [$0.name: $0.password] } ?? [:] : admins)
    }

    /// What differs in `other` and counts only for a server that is started with it.
    func fixed(unlike other: Self) -> [String] {
        [
            ("directory", directory == other.directory), ("port", server.port == other.server.port),
            ("address", server.address == other.server.address),
            ("hosts", server.hosts == other.server.hosts),
            ("connections", server.connections == other.server.connections),
            (
                "connections-per-address",
                server.connectionsPerAddress == other.server.connectionsPerAddress
            ),
            ("log", (log == nil) == (other.log == nil) && (log == "-") == (other.log == "-")),
            ("error-log", (errorLog == "-") == (other.errorLog == "-")),
            ("log-format", server.logFormat == other.server.logFormat),
            ("certificate", (identity == nil) == (other.identity == nil)),
            ("sync-function", syncFunction == other.syncFunction),
            ("take-turns", takesTurns == other.takesTurns),
            ("request-memory", router.requestMemory == other.router.requestMemory),
        ].filter { !$0.1 }.map(\.0)
    }

    // MARK: Parts

    private static func server(_ invocation: Invocation, isEncrypted: Bool) throws -> ServerOptions {
        var options = ServerOptions()
        options.address = invocation.string("--address") ?? options.address
        if let number = try invocation.number("--port") {
            guard let port = UInt16(exactly: number) else { throw UsageError("--port is 0 to 65535.") }
            options.port = port
        }
        options.connections = try invocation.number("--connections", minimum: 1) ?? options.connections
        options.connectionsPerAddress = try invocation.number("--connections-per-address", minimum: 1)
        options.hosts = list(invocation.string("--hosts"))
        options.logFormat = try logFormat(invocation.string("--log-format")) ?? options.logFormat
        let isLoopback = options.address.hasPrefix("127.") || options.address == "::1"
        guard isLoopback || isEncrypted || invocation.has("--plain") else {
            throw UsageError(
                "At \(options.address) passwords would go over the network in the clear. Give --certificate and --key, put a "
                    + "proxy with TLS before the server, or add --plain if that network is trusted.")
        }
        return options
    }

    private static func router(_ invocation: Invocation, _ admins: [String: String]) throws -> RouterOptions {
        var options = RouterOptions()
        options.admins = admins
        options.origins = list(invocation.string("--origins"))
        if let text = invocation.string("--trusted-proxies") {
            guard let proxies = TrustedProxies(text == "none" ? [] : list(text)) else {
                throw UsageError("--trusted-proxies takes addresses such as 10.1.2.3 or 10.0.0.0/8, or none.")
            }
            options.trustedProxies = proxies
        }
        options.allowsGuests = invocation.has("--guests")
        if let mebibytes = try invocation.number("--request-memory", minimum: 8) {
            options.requestMemory = try bytes(mebibytes, "--request-memory")
        }
        if let mebibytes = try invocation.number("--longest-attachment", minimum: 1) {
            options.longestAttachment = UInt64(try bytes(mebibytes, "--longest-attachment"))
        }
        if let seconds = try invocation.number("--longest-work", minimum: 1) {
            options.longestWork = .seconds(seconds)
        }
        options.requestsPerMinuteOfAddress = try invocation.number("--rate-per-address", minimum: 1)
        options.requestsPerMinuteOfUser = try invocation.number("--rate-per-user", minimum: 1)
        options.sessionDuration = try invocation.number("--session", minimum: 1) ?? options.sessionDuration
        return options
    }

    private static func bytes(_ mebibytes: Int, _ name: String) throws -> Int {
        let (bytes, isTooLarge) = mebibytes.multipliedReportingOverflow(by: 1 << 20)
        guard !isTooLarge else { throw UsageError("\(name) is too large.") }
        return bytes
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty
        }
    }

    private static func logFormat(_ name: String?) throws -> LogFormat? {
        guard let name else { return nil }
        guard let format = LogFormat(rawValue: name) else {
            throw UsageError("--log-format is common or json.")
        }
        return format
    }

    /// Reads the certificate and its key; `nil` where none are given.
    private static func identity(_ invocation: Invocation) throws -> TLSIdentity? {
        switch (invocation.string("--certificate"), invocation.string("--key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return try TLSIdentity(certificateFile: certificate, keyFile: key)
        default: throw UsageError("Give --certificate and --key, or neither.")
        }
    }

    // MARK: Administrators

    /// The administrators with their passwords, which never come from the command line: others can read that.
    private static func administrators(_ invocation: Invocation) throws -> [String: String] {
        var admins: [String: String] = [:]
        switch (invocation.string("--admin"), invocation.string("--password-file")) {
        case (nil, nil): break
        case (let name?, let path?):
            guard let password = try lines(path).first, !password.isEmpty else {
                throw CommandFailure("\(path) holds no password in its first line.")
            }
            guard !name.isEmpty, !name.contains(":") else {
                throw UsageError("--admin is a name without a colon.")
            }
            admins[name] = password
        default: throw UsageError("Give --admin and --password-file, or neither.")
        }
        guard let path = invocation.string("--admins") else { return admins }
        for (index, line) in try lines(path).enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            let colon = line.firstIndex(of: ":") ?? line.startIndex
            let name = String(line[..<colon])
            let password = String(line[colon...].dropFirst())
            guard !name.isEmpty, !password.isEmpty else {
                throw CommandFailure("\(path):\(index + 1): A line is NAME:PASSWORD.")
            }
            guard admins.updateValue(password, forKey: name) == nil else {
                throw CommandFailure("\(path):\(index + 1): \(name) is there twice.")
            }
        }
        guard !admins.isEmpty else { throw CommandFailure("\(path) names no administrator.") }
        return admins
    }

    private static func lines(_ path: String) throws -> [String] {
        let data = try InputFile(path).readAll(limit: 1 << 20)
        return data.split(separator: 10, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
        }
    }
}

// MARK: - ConfigurationFile

/// A file of settings, one a line: `NAME = VALUE`, with the names of a command's options without their dashes. Lines that begin with `#` or
/// `;` are comments. A flag takes `yes` or `no`.
struct ConfigurationFile {
    /// The value of an option, or of what else the file may set, by name.
    private(set) var values: [String: String] = [:]
    /// The flags that are set.
    private(set) var flags: Set<String> = []

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the file; a path in it that is not absolute is taken from its directory.
    ///   - options: what it may set.
    /// - Throws: ``CommandFailure`` with the line that is wrong: a name that nothing has, or that is given twice, or a value that is missing.
    init(_ path: String, _ options: [Option]) throws {
        let known = Dictionary(uniqueKeysWithValues: options.map { ($0.setting, $0) })
        var seen: Set<String> = []
        let text = String(decoding: try InputFile(path).readAll(limit: 1 << 20), as: UTF8.self)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard let first = line.first, first != "#", first != ";" else { continue }
            func wrong(_ reason: String) -> CommandFailure {
                CommandFailure("\(path):\(index + 1): \(reason)")
            }
            guard let sign = line.firstIndex(of: "=") else { throw wrong("A line is NAME = VALUE.") }
            let name = line[..<sign].trimmingCharacters(in: .whitespaces)
            let value = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            guard let option = known[name] else {
                let near = Suggestion.text(for: name, among: known.keys)
                throw wrong("There is no setting \"\(name)\"\(near.isEmpty ? "." : near)")
            }
            guard seen.insert(name).inserted else { throw wrong("\(name) is set twice.") }
            guard !value.isEmpty else { throw wrong("\(name) has no value.") }
            if option.value == nil {
                switch value {
                case "yes", "true", "on": flags.insert(option.name)
                case "no", "false", "off": break
                default: throw wrong("\(name) is yes or no.")
                }
            } else {
                values[option.name] = option.isPath ? Self.absolute(value, beside: path) : value
            }
        }
    }

    private static func absolute(_ value: String, beside path: String) -> String {
        guard !value.hasPrefix("/"), value != "-" else { return value }
        return URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(value).path
    }
}

extension Option {
    /// What the option is called in a file of settings.
    fileprivate var setting: String { String(name.drop { $0 == "-" }) }

    /// Whether its value is the path of a file or a directory.
    fileprivate var isPath: Bool { value == "FILE" || value == "DIR" }
}

extension Invocation {
    /// The invocation with the settings of a file for what is not said in it.
    func completed(by file: ConfigurationFile) -> Self {
        var copy = self
        copy.complete(file.values, file.flags)
        return copy
    }
}
