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
        Parameter(
            label: "DIR", help: "the directory of the databases; made if there is none", isOptional: true)
    ]
    static let options = ServeSettings.options
    static let notes = """
        A file of settings has a line NAME = VALUE for each option, without its dashes: port = 5984. Flags are yes or no. Arguments go before
        it; directory = DIR stands there for the argument DIR. Paths in it are taken from the file's own directory.
        Without --admin and --admins, the administrator is "roost" with a new random password, printed in the second line.
        With --take-turns, this tool and programs that open databases by turns can write them while they are served.
        At SIGHUP the file of settings, the files that it names and the certificate are read again and checked, and the logs are opened again,
        so that they can be rotated. Administrators, origins, proxies, limits and rates of requests and the certificate count from then on; what needs a
        new start is listed in the error log, and a file that is wrong changes nothing. One server at a time serves DIR, except where all of
        them take turns.
        Interrupt it (Ctrl-C), or send SIGTERM, to stop: requests under way are finished first.
        """

    static func run(_ invocation: Invocation) throws {
        let settings = try ServeSettings(invocation)
        var options = settings.server
        options.identity = settings.identity
        let log = try settings.log.map { try LogFile($0) }
        let errors = try ErrorLog(settings.errorLog)
        if let log { options.log = { line in log.append(line) } }
        var directory = DatabaseDirectory.Options()
        if settings.takesTurns { directory.database.writers = .takingTurns }
        let router = Router(
            try DatabaseDirectory(settings.directory, options: directory), options: settings.router,
            hooks: try hooks(settings, errors))
        let server = try HTTPServer(router, options: options)
        try Waiting.result { await router.replicator.start() }
        let renewal = Waiting.Interruption([SIGHUP]) {
            renew(settings, invocation, server, router, log, errors)
        }
        // Before anybody learns where the server is: they may end it at once.
        let ended = DispatchSemaphore(value: 0)
        let interruption = Waiting.Interruption {
            Task {
                await stop(server, router, errors)
                ended.signal()
            }
        }
        Console.print("roost serves \(server.url)")
        if let administrator = settings.generated {
            Console.print(
                "The administrator is \(administrator.name), with the password \(administrator.password)")
        }
        try Console.flush()
        withExtendedLifetime((renewal, interruption)) { ended.wait() }
        log?.finish()
        errors.finish()
    }

    /// What SIGHUP does: it ends no server, but has it read its settings and its certificate, and open its log again.
    private static func renew(
        _ settings: ServeSettings, _ invocation: Invocation, _ server: HTTPServer, _ router: Router,
        _ log: LogFile?, _ errors: ErrorLog
    ) {
        var (path, errorPath) = (settings.log, settings.errorLog)
        do {
            let renewed = try ServeSettings(invocation, generated: settings.generated)
            router.use(renewed.router)
            if let identity = renewed.identity { server.use(identity) }
            let fixed = settings.fixed(unlike: renewed)
            if !fixed.isEmpty {
                errors.append("From the next start on: \(fixed.joined(separator: ", ")).")
            }
            (path, errorPath) = (renewed.log, renewed.errorLog)
        } catch {
            errors.append("The settings and the certificate stay as they were. \(error.sentence)")
        }
        do {
            try errors.reopen(errorPath)
            if let log, let path { try log.reopen(path) }
        } catch {
            errors.append("The log stays as it was. \(error.sentence)")
        }
    }

    /// Functions of design documents run in children of this process, which are the same program.
    private static func hooks(_ settings: ServeSettings, _ errors: ErrorLog) throws -> Hooks {
        var hooks = Hooks()
        hooks.failures = { errors.append($0.description) }
        hooks.filePicture = { name, database, isWanted in
            let inspection = try database.inspect { _ in isWanted() }
            return InspectionPage(name: name, path: "", inspection, try database.derivedStores()).html
        }
        if let program = Bundle.main.executablePath {
            let language = JavaScript(program: [program, RoostTool.scriptWorker])
            hooks.languages = [language]
            if let path = settings.syncFunction {
                hooks.sync = try language.syncFunction(try InputFile.text(path))
            }
        }
        // Without it, everybody would see everything.
        guard settings.syncFunction == nil || hooks.sync != nil else {
            throw UsageError(
                "The path of this program is unknown, so it can't start the process that runs --sync-function."
            )
        }
        return hooks
    }

    /// Lets requests under way finish, and closes the databases.
    private static func stop(_ server: HTTPServer, _ router: Router, _ errors: ErrorLog) async {
        await router.replicator.stop()
        await server.stop()
        close(router.databases, errors)
    }

    private static func close(_ databases: DatabaseDirectory, _ errors: ErrorLog) {
        do {
            try databases.close()
        } catch {
            errors.append(error.sentence)
        }
    }
}

// MARK: - LogFile

/// A file that lines are appended to in the background, which may be renamed meanwhile and opened again.
final class LogFile: Sendable {
    private let queue = DispatchQueue(label: "roost.log")
    /// Stays the same when the file is opened again, so that no line meets a closed one.
    private let descriptor: Int32

    /// - Parameter path: the file, created with access for its owner alone if there is none; `-` is standard error.
    init(_ path: String) throws {
        descriptor = path == "-" ? STDERR_FILENO : try Self.open(path)
    }

    deinit { if descriptor != STDERR_FILENO { close(descriptor) } }

    private static func open(_ path: String) throws -> Int32 {
        let descriptor = unsafe Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure.system("\(path) can't be written") }
        return descriptor
    }

    /// Opens a path: from the next line on, lines go to the file that it names now.
    func reopen(_ path: String) throws {
        guard descriptor != STDERR_FILENO, path != "-" else { return }
        let new = try Self.open(path)
        defer { close(new) }
        guard dup2(new, descriptor) >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0 else {
            throw CommandFailure.system("\(path) can't be written")
        }
    }

    /// Appends a line. Where it can't be written, it is lost.
    func append(_ line: String) {
        queue.async { [descriptor] in
            try? OutputFile.write(Array("\(line)\n".utf8)[...], to: descriptor)
        }
    }

    /// Returns once all lines are written.
    func finish() { queue.sync {} }
}

/// What went wrong in a server that runs: a line for each message, with its time.
final class ErrorLog: Sendable {
    private let file: LogFile

    /// - Parameter path: as ``LogFile/init(_:)``.
    init(_ path: String) throws { file = try LogFile(path) }

    /// Appends a message, on one line and without what terminals obey.
    func append(_ message: String) {
        let time = Date.now.ISO8601Format(.init(includingFractionalSeconds: true))
        let line = ControlCharacters.escaped(in: message).split(separator: "\n").joined(separator: " ")
        file.append("\(time) roost: \(line)")
    }

    /// See ``LogFile/reopen(_:)``.
    func reopen(_ path: String) throws { try file.reopen(path) }

    /// Returns once all messages are written.
    func finish() { file.finish() }
}
