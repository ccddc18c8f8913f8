import Foundation
import Roost
import RoostREST

@testable import RoostSync

/// Peers that edit at random and replicate over a bad network, all from one seed; then over a good one, after which they must agree.
final class NetworkCampaign {
    /// A server with one database, which is edited here and replicated from elsewhere.
    private final class Peer {
        private let databases: DatabaseDirectory
        let router: Router

        init(_ directory: String) throws {
            var options = DatabaseDirectory.Options()
            options.database.durability = .relaxed(interval: 3600)
            databases = try DatabaseDirectory(directory, options: options)
            router = Router(databases)
            try databases.create("db")
        }

        var collection: DocumentCollection {
            get throws {
                guard let database = try databases.database("db") else { throw CancellationError() }
                return try database.defaultCollection
            }
        }

        /// Ends the database under whoever is using it, and opens it anew.
        func crash() throws {
            let database = try collection.database
            databases.closeUnused()
            try database.close()
        }
    }

    private let peers: Peers
    private var random: SplitMix
    private var servers: [Peer] = []
    private let fault: FaultyPeer.Fault?
    /// Revisions that somebody was told are saved, by document.
    private var acknowledged: [String: Set<RevisionID>] = [:]
    /// Documents that were purged somewhere: what becomes of them depends on who asked first.
    private var purged: Set<String> = []
    private(set) var findings: [String] = []

    private static let documentCount = 14

    init(seed: UInt64, fault: FaultyPeer.Fault? = nil) throws {
        random = SplitMix(seed)
        self.fault = fault
        peers = try Peers()
        for number in 0..<(3 + random.next(below: 2)) {
            servers.append(try Peer("\(peers.directory)/\(number)"))
        }
    }

    func run(rounds: Int) async throws {
        for _ in 0..<rounds {
            for _ in 0..<random.next(below: 8) {
                try edit(servers[random.next(below: servers.count)].collection)
            }
            if random.next(below: 6) == 0 { try maintain(servers[random.next(below: servers.count)]) }
            let from = random.next(below: servers.count)
            let to = (from + 1 + random.next(below: servers.count - 1)) % servers.count
            try await replicate(from, to, rarity: 20)
        }
        // A ring that is run through twice, both ways, brings everything everywhere.
        for _ in 0..<2 {
            for from in servers.indices { try await replicate(from, (from + 1) % servers.count, rarity: 0) }
        }
        try compare()
    }

    // MARK: Edits

    private func edit(_ collection: DocumentCollection) throws {
        let id = "d\(random.next(below: Self.documentCount))"
        guard !purged.contains(id) else { return }
        switch random.next(below: 10) {
        case 0: if try collection.find(id) != nil { try collection.remove(id) }
        case 1, 2:
            let digest = String(16 + random.next(below: 200), radix: 16)
            try collection.insert(id, ["2-\(digest)", "1-aa"], json: #"{"branch":"\#(digest)"}"#)
        case 3, 4:
            var draft = try collection.find(id)?.mutableCopy() ?? MutableDocument(id: id)
            let size = random.next(below: 3) == 0 ? 100_000 : 10
            let byte = UInt8(random.next(below: 256))
            let blob = try collection.database.blob([UInt8](repeating: byte, count: size), type: "text/plain")
            draft.attachments["x\(random.next(below: 3))"] = Attachment(blob)
            try collection.put(draft)
        default: try collection.put(id, #"{"n":\#(random.next(below: 1000))}"#)
        }
        for leaf in try collection.snapshot().leaves(of: id) { acknowledged[id, default: []].insert(leaf.id) }
    }

    private func maintain(_ peer: Peer) throws {
        switch random.next(below: 3) {
        case 0: try peer.crash()
        case 1: try peer.collection.database.compact()
        default:
            let id = "d\(random.next(below: 3))"
            purged.insert(id)
            try peer.collection.purge(id)
        }
    }

    // MARK: Replication

    private func replicate(_ from: Int, _ to: Int, rarity: Int) async throws {
        let (source, target) = (try servers[from].collection, servers[to])
        let router = target.router
        let network = SimulatedNetwork(seed: random.next(), rarity: rarity) {
            await router.respond(to: $0, as: .admin)
        }
        let here = DatabasePeer(source, longestAttachment: .max)
        let faulty: any ReplicationPeer = fault.map { FaultyPeer(peer: here, fault: $0) } ?? here
        let crashes = rarity > 0 && random.next(below: 8) == 0
        let replication = Replication(
            faulty, try RemoteDatabase("db", over: network).peer, resolvingIn: nil,
            ReplicationOptions(.both) { options in
                options.batchSize = 3
                options.retry.attempts = 3
            })
        if crashes {
            for _ in 0..<random.next(below: 200) { await Task.yield() }
            try (random.next(below: 2) == 0 ? servers[from] : target).crash()
        }
        let status: ReplicationStatus
        do {
            status = try await replication.finished
        } catch {
            if rarity == 0 { findings.append("without trouble: \(error)") }
            status = replication.status
        }
        findings += status.problems.map { "refused: \($0)" }
        guard !crashes else { return }
        try checkPosition(status.pushed.recorded, servers[from].collection, target.collection)
        try checkPosition(status.pulled.recorded, target.collection, servers[from].collection)
    }

    /// What stands before a recorded position is known to the other side.
    private func checkPosition(
        _ position: SourcePosition?, _ source: DocumentCollection, _ target: DocumentCollection
    ) throws {
        guard let text = position?.json.dropFirst(), let last = UInt64(text.prefix { $0 != "-" }) else {
            return
        }
        let (here, there) = (try source.snapshot(), try target.snapshot())
        for change in try here.changes(since: 0) where change.sequence <= last && !purged.contains(change.id)
        {
            let leaves = try here.leaves(of: change.id).map(\.id)
            let missing = try there.missingRevisions(of: change.id, from: leaves).missing
            if !missing.isEmpty { findings.append("a checkpoint passed \(missing) of \(change.id)") }
        }
    }

    // MARK: The end

    private func compare() throws {
        func isKept(_ line: String) -> Bool { !purged.contains(String(line.prefix { $0 != " " })) }
        let expected = try servers[0].collection.replicated().filter(isKept)
        for (number, server) in servers.enumerated() {
            let collection = try server.collection
            if try collection.replicated().filter(isKept) != expected { findings.append("\(number) differs") }
            let snapshot = try collection.snapshot()
            for (id, revisions) in acknowledged where !purged.contains(id) {
                let missing = try snapshot.missingRevisions(of: id, from: Array(revisions)).missing
                if !missing.isEmpty { findings.append("\(number) lost \(missing) of \(id)") }
            }
            let report = try collection.database.check()
            if !report.isClean { findings.append("\(number) is damaged: \(report)") }
        }
    }
}
