import Roost
import RoostSync

enum ReplicateCommand: Command {
    static let name = "replicate"
    static let summary = "makes one database hold what another one holds"
    static let parameters = [
        Parameter(
            label: "SOURCE",
            help: "the database to read: a path, or an address such as http://localhost:5984/notes"),
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
                    "--filter and --selector are for a source at a server, in that direction alone.")
            }
            guard options.selection.documentIDs == nil else {
                throw UsageError("Give one of --doc-ids, --filter and --selector.")
            }
        }
        options.direction = invocation.has("--both") ? .both : .push
        return options
    }

    private static func serverFilter(_ invocation: Invocation) throws -> ReplicationSelection.ServerFilter? {
        switch (invocation.string("--filter"), invocation.string("--selector")) {
        case (nil, nil): nil
        case (let name?, nil): .named(name, parameters: [:])
        case (nil, let json?): .selector(json)
        default: throw UsageError("Give one of --doc-ids, --filter and --selector.")
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
