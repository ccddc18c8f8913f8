import Foundation
import Roost
import RoostREST
import Testing

@testable import RoostSync

/// A server, a device that syncs with it over Couchbase Lite's protocol, and one over CouchDB's. All three are edited at random while
/// connections break and the server crashes, all from one seed; then nothing breaks any more, after which they must agree.
final class CouchbaseCampaign {
    private let peers: Peers
    private var random: SplitMix
    private let databases: DatabaseDirectory
    private let router: Router
    private let phone: DocumentCollection
    private let tablet: DocumentCollection
    private let fault: FaultyPeer.Fault?
    private(set) var findings: [String] = []

    private static let documentCount = 10

    init(seed: UInt64, fault: FaultyPeer.Fault? = nil) throws {
        random = SplitMix(seed)
        self.fault = fault
        peers = try Peers()
        var options = DatabaseDirectory.Options()
        options.database.durability = .relaxed(interval: 3600)
        databases = try DatabaseDirectory(peers.directory + "/served", options: options)
        router = Router(databases)
        try databases.create("db")
        phone = try peers.open("phone").defaultCollection
        tablet = try peers.open("tablet").defaultCollection
    }

    private var hub: DocumentCollection {
        get throws {
            guard let database = try databases.database("db") else { throw CancellationError() }
            return try database.defaultCollection
        }
    }

    func run(rounds: Int) async throws {
        for _ in 0..<rounds {
            for _ in 0..<random.next(below: 5) {
                try edit([phone, tablet, hub][random.next(below: 3)])
            }
            if random.next(below: 2) == 0 {
                try await syncPhone(isQuiet: false)
            } else {
                try await syncTablet(rarity: 20)
            }
        }
        for _ in 0..<3 {
            try await syncPhone(isQuiet: true)
            try await syncTablet(rarity: 0)
        }
        try compare()
    }

    private func edit(_ collection: DocumentCollection) throws {
        let id = "d\(random.next(below: Self.documentCount))"
        switch random.next(below: 8) {
        case 0: if try collection.find(id) != nil { try collection.remove(id) }
        case 1:
            let digest = String(16 + random.next(below: 200), radix: 16)
            try collection.insert(id, ["2-\(digest)", "1-aa"], json: #"{"branch":"\#(digest)"}"#)
        case 2, 3:
            var draft = try collection.find(id)?.mutableCopy() ?? MutableDocument(id: id)
            let bytes = [UInt8](repeating: UInt8(random.next(below: 256)), count: random.next(below: 70_000))
            // Blobs of properties don't pass through CouchDB's protocol.
            draft.attachments["x"] = Attachment(try collection.database.blob(bytes, type: "text/plain"))
            try collection.put(draft)
        default: try collection.put(id, #"{"n":\#(random.next(below: 1000))}"#)
        }
    }

    private func syncPhone(isQuiet: Bool) async throws {
        let cut = isQuiet ? Int.max : random.next(below: 60)
        let options = ReplicationOptions(.both) { options in
            options.batchSize = 3
            options.retry.attempts = 1
            options.resolver = .winner
        }
        let remote = RemoteDatabase.piped(router, "db") { cut }
        let here = DatabasePeer(phone, longestAttachment: .max)
        let faulty: any ReplicationPeer = fault.map { FaultyPeer(peer: here, fault: $0) } ?? here
        let replication = Replication(
            faulty, remote.peer(for: phone, options), resolvingIn: phone, options)
        let crashes = !isQuiet && random.next(below: 6) == 0
        if crashes {
            for _ in 0..<random.next(below: 300) { await Task.yield() }
            let database = try hub.database
            databases.closeUnused()
            try database.close()
        }
        do {
            let status = try await replication.finished
            if isQuiet { findings += status.problems.map { "refused: \($0)" } }
        } catch {
            if isQuiet { findings.append("without trouble: \(error)") }
        }
        guard !crashes else { return }
        let status = replication.status
        let open = Set(status.problems.map(\.document))
        try check(status.pushed.recorded, phone, hub, besides: open)
        try check(status.pulled.recorded, hub, phone, besides: open)
    }

    private func syncTablet(rarity: Int) async throws {
        let router = router
        let network = SimulatedNetwork(seed: random.next(), rarity: rarity) {
            await router.respond(to: $0, as: .admin)
        }
        let replication = tablet.replicate(
            with: RemoteDatabase("db", over: network),
            ReplicationOptions(.both) { $0.retry.attempts = 3 })
        do {
            _ = try await replication.finished
        } catch {
            if rarity == 0 { findings.append("without trouble: \(error)") }
        }
    }

    /// The winners before a recorded position are known to the other side.
    private func check(
        _ position: SourcePosition?, _ source: DocumentCollection, _ target: DocumentCollection,
        besides open: Set<String>
    ) throws {
        guard let text = position?.json.drop(while: { $0 == "\"" }),
            let last = UInt64(text.prefix { $0.isNumber })
        else { return }
        let there = try target.snapshot()
        for change in try source.snapshot().changes(since: 0)
        where change.sequence <= last && !open.contains(change.id) {
            let missing = try there.missingRevisions(of: change.id, from: [change.revision]).missing
            if !missing.isEmpty { findings.append("a checkpoint passed \(missing) of \(change.id)") }
        }
    }

    /// All have the same winners. Other leaves are unknown over Couchbase Lite's protocol.
    private func compare() throws {
        func winners(_ collection: DocumentCollection) throws -> [String] {
            var selection = DocumentSelection()
            selection.includesDeleted = true
            return try collection.snapshot().documents(selection).map { document in
                let attachments = document.attachments.map { "\($0.key): \($0.value.digest)" }
                return
                    "\(document.id) \(document.revision) \(document.isDeleted) \(document.json()) \(attachments)"
            }
        }
        let expected = try winners(hub)
        for (name, collection) in [("the phone", phone), ("the tablet", tablet)] {
            let found = try winners(collection)
            if found != expected {
                findings.append("\(name) differs: \(Set(found).symmetricDifference(expected).sorted())")
            }
            if try !collection.database.isClean() { findings.append("\(name) is damaged") }
        }
        if try !hub.database.isClean() { findings.append("the server is damaged") }
    }
}

/// Random histories of three peers. `ROOST_REPLICATION_SEEDS=N` runs N of them instead of a few; what fails names its seed.
@Suite struct CouchbaseSimulationTests {
    @Test(arguments: NetworkSimulationTests.seeds)
    func threePeersAgreeInTheEnd(seed: UInt64) async throws {
        let campaign = try CouchbaseCampaign(seed: seed)
        try await campaign.run(rounds: 25)
        #expect(campaign.findings.isEmpty, "\(campaign.findings)")
    }

    /// The simulation would notice: each fault leads to a finding within a few seeds.
    @Test(arguments: [FaultyPeer.Fault.positionTooFar, .droppedRevision])
    func aFaultIsNoticed(fault: FaultyPeer.Fault) async throws {
        for seed in 0..<10 as Range<UInt64> {
            let campaign = try CouchbaseCampaign(seed: seed, fault: fault)
            try await campaign.run(rounds: 12)
            if !campaign.findings.isEmpty { return }
        }
        Issue.record("\(fault) was not noticed")
    }
}
