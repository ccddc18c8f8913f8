import Dispatch
import Foundation
import Roost
import RoostIndex
import RoostREST
import RoostScript
import RoostServer

enum ServeCommand: Command {
    static let name = "serve"
    static let summary = "serves databases over HTTP, as CouchDB does"
    static let parameters = [
        Parameter(label: "DIR", help: "the directory of the databases; made if there is none")
    ]
    static let options = [
        Option("--port", "N", "the port; 0 takes a free one (default 5984)"),
        Option("--address", "A", "the address to listen at, in figures (default 127.0.0.1)"),
        Option("--admin", "NAME", "the name of the administrator"),
        Option("--password-file", "FILE", "the administrator's password: the first line of FILE"),
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
        Option("--log", "FILE", "appends a line for each request to FILE; - for standard error"),
        Option("--log-format", "F", "common (the default), or json: a JSON object a line"),
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
    static let notes = """
        Without --admin, the administrator is "roost" with a new random password, printed in the second line.
        With --take-turns, this tool and programs that open databases by turns can write them while they are served.
        At SIGHUP the log is opened again, so that it can be rotated, and a renewed certificate is read, for clients that connect
        from then on. One server at a time serves DIR, except where all of them take turns.
        Interrupt it (Ctrl-C), or send SIGTERM, to stop: requests under way are finished first.
        """

    static func run(_ invocation: Invocation) throws {
        var options = ServerOptions()
        options.address = invocation.string("--address") ?? options.address
        options.port = try number(invocation, "--port").map { try port($0) } ?? options.port
        options.connections = try number(invocation, "--connections") ?? options.connections
        options.connectionsPerAddress = try number(invocation, "--connections-per-address")
        options.hosts = list(invocation.string("--hosts"))
        let log = try invocation.string("--log").map { try LogFile($0) }
        if let log { options.log = { line in log.append(line) } }
        options.logFormat = try logFormat(invocation.string("--log-format")) ?? options.logFormat
        let isLoopback = options.address.hasPrefix("127.") || options.address == "::1"
        let identity = try identity(invocation)
        options.identity = try identity?()
        guard isLoopback || identity != nil || invocation.has("--plain") else {
            throw UsageError(
                "At \(options.address) passwords would go over the network in the clear. Give --certificate and --key, put a "
                    + "proxy with TLS before the server, or add --plain if that network is trusted.")
        }
        var routing = RouterOptions()
        routing.origins = list(invocation.string("--origins"))
        if let text = invocation.string("--trusted-proxies") {
            guard let proxies = TrustedProxies(text == "none" ? [] : list(text)) else {
                throw UsageError("--trusted-proxies takes addresses such as 10.1.2.3 or 10.0.0.0/8, or none.")
            }
            routing.trustedProxies = proxies
        }
        let administrator = try administrator(invocation)
        routing.admins = [administrator.name: administrator.password]
        routing.allowsGuests = invocation.has("--guests")
        var directory = DatabaseDirectory.Options()
        if invocation.has("--take-turns") { directory.database.writers = .takingTurns }
        let router = Router(
            try DatabaseDirectory(invocation[0], options: directory), options: routing,
            hooks: try hooks(invocation))
        let server = try Server(router, options: options)
        try Waiting.result { await router.replicator.start() }
        let renewal = renewal(server, log, identity)
        Console.print("roost serves \(server.url)")
        if administrator.isNew {
            Console.print(
                "The administrator is \(administrator.name), with the password \(administrator.password)")
        }
        try Console.flush()
        withExtendedLifetime(renewal) { serve(server, router) }
        log?.finish()
    }

    /// What SIGHUP does: it ends no server, but has it open its log again, and read its certificate.
    private static func renewal(
        _ server: Server, _ log: LogFile?, _ identity: (@Sendable () throws -> TLSIdentity)?
    ) -> Waiting.Interruption {
        Waiting.Interruption([SIGHUP]) {
            do {
                try log?.reopen()
            } catch {
                Console.complain("The log stays as it was. \(error.sentence)")
            }
            guard let identity else { return }
            do {
                server.use(try identity())
            } catch {
                Console.complain("The certificate stays as it was. \(error.sentence)")
            }
        }
    }

    /// Reads the certificate and its key; `nil` where none are given.
    private static func identity(_ invocation: Invocation) throws -> (@Sendable () throws -> TLSIdentity)? {
        switch (invocation.string("--certificate"), invocation.string("--key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return { try TLSIdentity(certificateFile: certificate, keyFile: key) }
        default: throw UsageError("Give --certificate and --key, or neither.")
        }
    }

    /// Functions of design documents run in children of this process, which are the same program.
    private static func hooks(_ invocation: Invocation) throws -> Hooks {
        var hooks = Hooks()
        hooks.filePicture = { name, database, isWanted in
            let inspection = try database.inspect { _ in isWanted() }
            return InspectionPage(name: name, path: "", inspection, try database.derivedStores()).html
        }
        let syncFunction = invocation.string("--sync-function")
        if let program = Bundle.main.executablePath {
            let language = JavaScript(program: [program, RoostTool.scriptWorker])
            hooks.languages = [language]
            if let syncFunction {
                hooks.sync = try language.syncFunction(try InputFile.text(syncFunction))
            }
        }
        // Without it, everybody would see everything.
        guard syncFunction == nil || hooks.sync != nil else {
            throw UsageError(
                "The path of this program is unknown, so it can't start the process that runs --sync-function."
            )
        }
        return hooks
    }

    /// Serves until a signal comes.
    private static func serve(_ server: Server, _ router: Router) {
        let ended = DispatchSemaphore(value: 0)
        let interruption = Waiting.Interruption {
            Task {
                await router.replicator.stop()
                await server.stop()
                close(router.databases)
                ended.signal()
            }
        }
        withExtendedLifetime(interruption) { ended.wait() }
    }

    private static func close(_ databases: DatabaseDirectory) {
        do {
            try databases.close()
        } catch {
            Console.complain(error.sentence)
        }
    }

    private static func number(_ invocation: Invocation, _ name: String) throws -> Int? {
        guard let text = invocation.string(name) else { return nil }
        guard let number = Int(text), number >= 0 else { throw UsageError("\(name) takes a whole number.") }
        return number
    }

    private static func port(_ number: Int) throws -> UInt16 {
        guard let port = UInt16(exactly: number) else { throw UsageError("--port is 0 to 65535.") }
        return port
    }

    private static func list(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.isEmpty
        }
    }

    /// Who administers: as told, or with a random password. Never from the command line, which others can read.
    private static func administrator(
        _ invocation: Invocation
    ) throws -> (name: String, password: String, isNew: Bool) {
        switch (invocation.string("--admin"), invocation.string("--password-file")) {
        case (nil, nil):
            var generator = SystemRandomNumberGenerator()
            let digits = (0..<4).map { _ in String(generator.next() as UInt64, radix: 36) }
            return ("roost", digits.joined(), true)
        case (let name?, let path?):
            guard !name.isEmpty, !name.contains(":") else {
                throw UsageError("--admin is a name without a colon.")
            }
            let data = try InputFile(path).readAll(limit: 1 << 16)
            let line = String(decoding: data.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
            guard !line.isEmpty else { throw CommandFailure("\(path) holds no password in its first line.") }
            return (name, line, false)
        default: throw UsageError("Give --admin and --password-file, or neither.")
        }
    }

    private static func logFormat(_ name: String?) throws -> LogFormat? {
        guard let name else { return nil }
        guard let format = LogFormat(rawValue: name) else {
            throw UsageError("--log-format is common or json.")
        }
        return format
    }
}
