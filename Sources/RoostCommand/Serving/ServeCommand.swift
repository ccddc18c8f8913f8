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
        At SIGHUP the file of settings, the files that it names and the certificate are read again and checked, and the log is opened again,
        so that it can be rotated. Administrators, origins, proxies, limits of requests and the certificate count from then on; what needs a
        new start is listed on standard error, and a file that is wrong changes nothing. One server at a time serves DIR, except where all of
        them take turns.
        Interrupt it (Ctrl-C), or send SIGTERM, to stop: requests under way are finished first.
        """

    static func run(_ invocation: Invocation) throws {
        let settings = try ServeSettings(invocation)
        var options = settings.server
        options.identity = settings.identity
        let log = try settings.log.map { try LogFile($0) }
        if let log { options.log = { line in log.append(line) } }
        var directory = DatabaseDirectory.Options()
        if settings.takesTurns { directory.database.writers = .takingTurns }
        let router = Router(
            try DatabaseDirectory(settings.directory, options: directory), options: settings.router,
            hooks: try hooks(settings))
        let server = try HTTPServer(router, options: options)
        try Waiting.result { await router.replicator.start() }
        let renewal = Waiting.Interruption([SIGHUP]) {
            renew(settings, invocation, server, router, log)
        }
        // Before anybody learns where the server is: they may end it at once.
        let ended = DispatchSemaphore(value: 0)
        let interruption = Waiting.Interruption {
            Task {
                await stop(server, router)
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
    }

    /// What SIGHUP does: it ends no server, but has it read its settings and its certificate, and open its log again.
    private static func renew(
        _ settings: ServeSettings, _ invocation: Invocation, _ server: HTTPServer, _ router: Router,
        _ log: LogFile?
    ) {
        var path = settings.log
        do {
            let renewed = try ServeSettings(invocation, generated: settings.generated)
            router.use(renewed.router)
            if let identity = renewed.identity { server.use(identity) }
            let fixed = settings.fixed(unlike: renewed)
            if !fixed.isEmpty {
                Console.complain("From the next start on: \(fixed.joined(separator: ", ")).")
            }
            path = renewed.log
        } catch {
            Console.complain("The settings and the certificate stay as they were. \(error.sentence)")
        }
        do {
            if let log, let path { try log.reopen(path) }
        } catch {
            Console.complain("The log stays as it was. \(error.sentence)")
        }
    }

    /// Functions of design documents run in children of this process, which are the same program.
    private static func hooks(_ settings: ServeSettings) throws -> Hooks {
        var hooks = Hooks()
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
    private static func stop(_ server: HTTPServer, _ router: Router) async {
        await router.replicator.stop()
        await server.stop()
        close(router.databases)
    }

    private static func close(_ databases: DatabaseDirectory) {
        do {
            try databases.close()
        } catch {
            Console.complain(error.sentence)
        }
    }
}
