import Roost
import Testing

@testable import RoostSync

/// Peers that edit, delete and conflict at random, and replicate over a link that fails at random, end up with the same
/// revisions. A checkpoint that passed what was not written would leave some behind for good.
@Suite struct ConvergenceTests {
    @Test(arguments: 0..<8)
    func peersAgreeInTheEnd(seed: UInt64) async throws {
        var random = SplitMix(seed)
        let peers = try Peers()
        var collections: [DocumentCollection] = []
        // Between two there is no other way by which something lost might come.
        let count = 2 + Int(seed % 2)
        for number in 0..<count { collections.append(try peers.open("\(number)").defaultCollection) }
        for _ in 0..<30 {
            for _ in 0..<random.next(below: 6) {
                try edit(collections[random.next(below: count)], &random)
            }
            let (from, to) = (random.next(below: count), random.next(below: count))
            guard from != to else { continue }
            // What fails is tried again by the next one.
            _ = try? await run(
                collections[from], collections[to], failing: seed &+ random.next(), attempts: 1)
        }
        for _ in 0..<2 {
            for from in 0..<count {
                _ = try await run(
                    collections[from], collections[(from + 1) % count], failing: random.next(), attempts: 1000
                )
            }
        }
        let expected = try collections[0].replicated()
        #expect(!expected.isEmpty)
        for collection in collections { #expect(try collection.replicated() == expected) }
    }

    private func run(
        _ local: DocumentCollection, _ remote: DocumentCollection, failing seed: UInt64, attempts: Int
    ) async throws -> ReplicationStatus {
        let options = ReplicationOptions(.both) {
            $0.batchSize = 3
            $0.retry.attempts = attempts
        }
        return try await Replication(
            local: local, remote: FailingPeer(DatabasePeer(remote, longestAttachment: .max), seed: seed),
            options
        ).finished
    }

    private func edit(_ collection: DocumentCollection, _ random: inout SplitMix) throws {
        let id = "d\(random.next(below: 12))"
        switch random.next(below: 8) {
        case 0: try collection.delete(id)
        case 1:
            let digest = String(16 + random.next(below: 200), radix: 16)
            try collection.insert(id, ["2-\(digest)", "1-aa"], json: #"{"branch":"\#(digest)"}"#)
        case 2:
            var draft = try collection.document(id)?.mutableCopy() ?? MutableDocument(id: id)
            let blob = try collection.database.saveBlob([UInt8(random.next(below: 256))])
            draft.attachments["x"] = Attachment(blob)
            try collection.save(&draft)
        default: try collection.save(json: #"{"n":\#(random.next(below: 1000))}"#, id: id)
        }
    }
}

/// A peer whose calls fail now and then: before they did anything, or after they did it.
private struct FailingPeer: ReplicationPeer {
    struct Failure: Error {}

    private let peer: DatabasePeer
    private let random: SharedRandom

    init(_ peer: DatabasePeer, seed: UInt64) {
        self.peer = peer
        random = SharedRandom(seed)
    }

    private func failing<R>(_ body: () async throws -> R) async throws -> R {
        if random.next(below: 12) == 0 { throw Failure() }
        let result = try await body()
        if random.next(below: 12) == 0 { throw Failure() }
        return result
    }

    func identity() async throws -> String { peer.identity() }

    func filterCode(_ selection: ReplicationSelection) async throws -> String? {
        try peer.filterCode(selection)
    }

    func leaves(of ids: [String]) async throws -> [ChangedDocument] {
        try await failing { try await peer.leaves(of: ids) }
    }

    func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch {
        try await failing { try await peer.changes(after: position, limit: limit, selection) }
    }

    func untilChanged(after position: SourcePosition?) async throws {
        try await peer.untilChanged(after: position)
    }

    func missing(_ offered: [ChangedDocument]) async throws -> [WantedRevisions] {
        try await failing { try await peer.missing(offered) }
    }

    func read(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions {
        try await failing { try await peer.read(wanted, selection) }
    }

    func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem] {
        try await failing { try await peer.write(revisions) }
    }

    func checkpoint(_ id: String) async throws -> Checkpoint? {
        try await failing { try await peer.checkpoint(id) }
    }

    func save(_ checkpoint: Checkpoint, as id: String) async throws {
        try await failing { try await peer.save(checkpoint, as: id) }
    }
}
