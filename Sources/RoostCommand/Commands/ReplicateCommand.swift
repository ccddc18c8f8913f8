import Dispatch
import Foundation
import Roost
import RoostSync

enum ReplicateCommand: Command {
    static let name = "replicate"
    static let summary = "makes one database hold what another one holds"
    static let parameters = [
        Parameter(label: "SOURCE", help: "the database to read"),
        Parameter(label: "TARGET", help: "the database to write; made if there is none"),
    ]
    static let options = [
        Option("--both", nil, "both ways: afterwards each holds what the other does"),
        Option("--continuous", nil, "go on with what changes, until interrupted (Ctrl-C)"),
        Option("--ids", "LIST", "only these documents, with commas between them"),
        Option("--winners", nil, "only the winning revision of each document, without conflicts"),
        Option.collection, .json,
    ]
    static let notes = """
        What was carried is not carried again. Documents that were refused are listed, and the status is 1 then.
        A key or passphrase is that of the source; the target is not encrypted.
        """

    static func run(_ invocation: Invocation) throws {
        let target = invocation[1]
        var options = ReplicationOptions()
        options.isContinuous = invocation.has("--continuous")
        options.selection.winnersOnly = invocation.has("--winners")
        options.selection.documentIDs = invocation.string("--ids").map {
            Set($0.split(separator: ",").map(String.init))
        }
        options.direction = invocation.has("--both") ? .both : .push
        let here = try invocation.collection(of: try invocation.openForWriting())
        let there = try invocation.collection(of: try Database.open(target), createIfMissing: true)
        let replication = here.replicate(with: there, options)
        let status = try wait(for: replication)
        report(status, asJSON: invocation.has("--json"))
        guard status.problemCount == 0 else {
            throw CommandFailure("\(Count.text(status.problemCount, "document")) could not be carried.")
        }
    }

    /// Shows how it goes until it ends, or stops it when it is interrupted.
    private static func wait(for replication: Replication) throws -> ReplicationStatus {
        let ended = DispatchSemaphore(value: 0)
        let bar = ProgressBar("Replicating")
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { Task { await replication.stop() } }
            source.activate()
            return source
        }
        Task {
            _ = try? await replication.finished
            ended.signal()
        }
        while ended.wait(timeout: .now() + 0.2) == .timedOut {
            let status = replication.status
            let done = UInt64(status.pushed.checked + status.pulled.checked)
            let left = UInt64((status.pushed.pending ?? 0) + (status.pulled.pending ?? 0))
            bar.show(done, of: done + left, "\(status.pushed.written + status.pulled.written) written")
        }
        bar.finish()
        for source in sources { source.cancel() }
        let status = replication.status
        if case .failed(let error) = status.phase { throw error }
        return status
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
