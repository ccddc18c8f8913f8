import Dispatch
import Fleece
import Foundation
import Roost
import RoostSync

enum ReplicateCommand: Command {
    static let name = "replicate"
    static let summary = "makes one database hold what another one holds"
    static let parameters = [
        Parameter(
            label: "SOURCE",
            help:
                "the database to read: a path, or an address such as http://localhost:5984/notes, or "
                + "wss://sync.example.org/notes for Couchbase Lite's protocol"),
        Parameter(
            label: "TARGET", help: "the database to write: a path, made if there is none, or an address"),
    ]
    static let options =
        [
            Option("--both", nil, "both ways: afterwards each holds what the other does"),
            Option("--continuous", nil, "go on with what changes, until interrupted (Ctrl-C)"),
            Option("--create-target", nil, "make the target at its server where there is none"),
            Option("--doc-ids", "LIST", "only these documents, with commas between them"),
            Option("--filter", "NAME", "only what a filter DESIGN/NAME of the source's server lets through"),
            Option(
                "--selector", "JSON", "only documents that match a Mango selector, at the source's server"),
            Option(
                "--channels", "LIST",
                "only documents of these channels, at the source's server, with commas between them"),
            Option("--winners", nil, "only the winning revision of each document, without conflicts"),
            Option(
                "--no-checkpoints", nil,
                "compare everything and keep no record of it (CouchDB's use_checkpoints: false)"),
        ] + RemoteAccess.options + [.collection, .json]
    static let notes = """
        What was carried is not carried again. Documents that could not be carried are listed, and the status is 1 then. The next run
        tries them again. A source that can't be written to keeps no record; the target's then counts alone.
        A key or passphrase is that of the source, or of the target where the source is elsewhere; a target that is a path
        beside a source that is one is not encrypted. Name and password are those of both where both are elsewhere.
        Addresses with ws:// and wss:// are of servers that speak Couchbase Lite's protocol: Sync Gateway, or a Roost's own. One side
        is then a path. The winning revisions go there; those in conflict with the server's are listed until the conflict is resolved.
        """

    static func run(_ invocation: Invocation) throws {
        let replication = try start(invocation, try options(invocation))
        let status = try ReplicationProgress(replication).wait()
        report(status, asJSON: invocation.has("--json"))
        guard status.problemCount == 0 else {
            throw CommandFailure("\(Count.text(status.problemCount, "document")) could not be carried.")
        }
    }

    private static func options(_ invocation: Invocation) throws -> ReplicationOptions {
        var options = ReplicationOptions()
        options.isContinuous = invocation.has("--continuous")
        options.usesCheckpoints = !invocation.has("--no-checkpoints")
        options.selection.winnersOnly = invocation.has("--winners")
        options.selection.documentIDs = invocation.string("--doc-ids").map {
            Set($0.split(separator: ",").map(String.init))
        }
        options.selection.serverFilter = try serverFilter(invocation)
        if options.selection.serverFilter != nil {
            guard RemoteAccess.isAddress(invocation[0]), !invocation.has("--both") else {
                throw UsageError(
                    "--filter, --selector and --channels are for a source at a server, in that direction alone."
                )
            }
            guard options.selection.documentIDs == nil else {
                throw UsageError("Give one of --doc-ids, --filter, --selector and --channels.")
            }
        }
        options.direction = invocation.has("--both") ? .both : .push
        return options
    }

    private static func serverFilter(_ invocation: Invocation) throws -> ReplicationSelection.ServerFilter? {
        switch (
            invocation.string("--filter"), invocation.string("--selector"), invocation.string("--channels")
        ) {
        case (nil, nil, nil): nil
        case (let name?, nil, nil): .named(name, parameters: [:])
        case (nil, let json?, nil): .selector(json)
        case (nil, nil, let channels?):
            .named("sync_gateway/bychannel", parameters: ["channels": channels])
        default: throw UsageError("Give one of --doc-ids, --filter, --selector and --channels.")
        }
    }

    private static func start(_ invocation: Invocation, _ options: ReplicationOptions) throws -> Replication {
        let (source, target) = (invocation[0], invocation[1])
        switch (RemoteAccess.isAddress(source), RemoteAccess.isAddress(target)) {
        case (false, false):
            let here = try invocation.collection(of: try invocation.openForWriting())
            let there = try invocation.collection(of: try Database.open(target), createsIfMissing: true)
            return here.replicate(with: there, options)
        case (false, true):
            let there = try remoteTarget(invocation)
            return try invocation.collection(of: try invocation.openForWriting()).replicate(
                with: there, options)
        case (true, false):
            let there = try RemoteAccess.database(source, invocation)
            let database = try invocation.swappingFirstTwo().openForWriting(createsIfMissing: true)
            let here = try invocation.collection(of: database, createsIfMissing: true)
            var options = options
            if options.direction == .push { options.direction = .pull }
            return here.replicate(with: there, options)
        case (true, true):
            return try RemoteAccess.database(source, invocation).replicate(
                with: try remoteTarget(invocation), options)
        }
    }

    private static func remoteTarget(_ invocation: Invocation) throws -> RemoteDatabase {
        let remote = try RemoteAccess.database(invocation[1], invocation)
        if invocation.has("--create-target") { try Waiting.result { try await remote.create() } }
        return remote
    }

    private static func report(_ status: ReplicationStatus, asJSON: Bool) {
        for problem in status.problems { Console.complain("\(problem)") }
        let (pushed, pulled) = (status.pushed, status.pulled)
        guard asJSON else {
            return Console.print(
                "\(Count.text(pushed.checked + pulled.checked, "changed document")) compared, "
                    + "\(Count.text(pushed.written + pulled.written, "revision")) carried.")
        }
        var object = JSONObject()
        for (name, counts) in [("pushed", pushed), ("pulled", pulled)] {
            object.add("\(name)Checked", counts.checked)
            object.add("\(name)Written", counts.written)
            object.add("\(name)Failed", counts.failed)
        }
        Console.print(object.text)
    }
}

// MARK: - ReplicationsCommand

enum ReplicationsCommand: Command {
    static let name = "replications"
    static let summary = "lists the replications that a server runs"
    static let parameters = [
        Parameter(
            label: "SERVER",
            help: "its address, such as http://localhost:5984, or the directory that it serves")
    ]
    static let options = RemoteAccess.options + [.json]
    static let notes = """
        These are the documents of the server's database _replicator. A directory tells what was written into them; only the
        address of a server that runs tells what it is doing.
        """

    static func run(_ invocation: Invocation) throws {
        let rows = try RemoteAccess.isAddress(invocation[0]) ? asked(invocation) : read(invocation)
        if invocation.has("--json") {
            for row in rows { Console.print(try row.json()) }
            return
        }
        guard !rows.isEmpty else { return Console.print("There are no replications.") }
        var table = TextTable(["DOCUMENT", "SOURCE", "TARGET", "STATE", "WRITTEN", "ERROR"])
        for row in rows {
            let texts = ["doc_id", "source", "target", "state"].map { row[$0]?.string ?? "" }
            let information = row["info"]
            let written = information?["docs_written"]?.int.map { "\($0)" } ?? ""
            table.add(texts + [written, information?["error"]?.string ?? ""])
        }
        table.finish()
    }

    private static func asked(_ invocation: Invocation) throws -> [DocumentValue] {
        let server = try RemoteAccess.database(
            ReplicatorManager.databaseName, ofServer: invocation[0], invocation)
        return try Waiting.result { try await server.scheduledReplications() }
    }

    private static func read(_ invocation: Invocation) throws -> [DocumentValue] {
        let path = "\(invocation[0])/\(ReplicatorManager.databaseName).roost"
        guard FileManager.default.fileExists(atPath: path) else {
            guard FileManager.default.fileExists(atPath: invocation[0]) else {
                throw CommandFailure("There is no directory \(invocation[0]).")
            }
            return []
        }
        let database = try Database.open(
            path, options: DatabaseOptions(isReadOnly: true, createsIfMissing: false))
        let collection = try database.defaultCollection
        let manager = ReplicatorManager(
            ReplicatorManager.Databases { _ in
                collection
            } create: { _ in
                collection
            })
        return try Waiting.result { try await manager.documentRows().map(\.row) }
    }
}

// MARK: - RemoteAccess

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

// MARK: - ReplicationProgress

/// Shows how a replication goes, and stops it when the program is interrupted.
struct ReplicationProgress {
    private let replication: Replication

    init(_ replication: Replication) { self.replication = replication }

    /// Waits for the end.
    ///
    /// - Throws: What ended it, unless all was carried or it was interrupted.
    func wait() throws -> ReplicationStatus {
        let replication = replication
        let bar = ProgressBar("Replicating")
        defer { bar.finish() }
        let interruption = Waiting.Interruption { Task { await replication.stop() } }
        defer { withExtendedLifetime(interruption) {} }
        let ended = DispatchSemaphore(value: 0)
        Task {
            _ = try? await replication.finished
            ended.signal()
        }
        var complaint = ""
        while ended.wait(timeout: .now() + 0.2) == .timedOut {
            let status = replication.status
            show(status, bar)
            // Where no bar says so: a continuous replication may wait for long.
            let newest = status.lastError.map { "\($0)" } ?? ""
            if newest != complaint, !newest.isEmpty { Console.complain("\(newest) It is tried again.") }
            complaint = newest
        }
        let status = replication.status
        if case .failed(let error) = status.phase { throw error }
        return status
    }

    private func show(_ status: ReplicationStatus, _ bar: ProgressBar) {
        let done = UInt64(status.pushed.checked + status.pulled.checked)
        let left = UInt64((status.pushed.pending ?? 0) + (status.pulled.pending ?? 0))
        let state =
            switch status.phase {
            case .idle: ", up to date"
            case .waiting: ", waiting"
            case .paused: ", paused"
            case .active, .finished, .failed: ""
            }
        bar.show(done, of: done + left, "\(status.pushed.written + status.pulled.written) written\(state)")
    }
}
