import Foundation
import Roost
import RoostSync
import Synchronization

/// S1 and S2: two databases that are made to agree.
enum ReplicationRow {
    private static let attachmentSize = 16 << 10
    private static let commits = 200

    /// S1: documents of 300 bytes, as many as the run has, and what a replication costs that has little to do.
    static func run(on stage: Stage) throws {
        let peers = try stage.openReplication()
        let count = stage.corpus.count
        let source = try peers.open("source")
        try load(source, count, size: stage.corpus.valueSize)
        let other = try peers.openOther()
        let memory = PeakMemory()
        stage.record(.push, try rate(peers, source, other, .push, count, on: stage))
        stage.record(.pushMemory, memory.megabytes())
        stage.record(.pushAgain, try roundTime(peers, source, other, on: stage))
        let copy = try peers.open("copy")
        stage.record(.pull, try rate(peers, copy, other, .pull, count, on: stage))
        try copy.close()
        try measureDelays(peers, source, other, on: stage)
        try source.close()
        try peers.close()
    }

    /// S2: documents with an attachment, a hundredth as many.
    static func runWithAttachments(on stage: Stage) throws {
        let peers = try stage.openReplication()
        let count = max(100, stage.corpus.count / 100)
        let source = try peers.open("source")
        try loadWithAttachments(source, count, seed: stage.corpus.seed)
        let other = try peers.openOther()
        stage.record(.attachmentPush, try rate(peers, source, other, .push, count, on: stage))
        let copy = try peers.open("copy")
        stage.record(.attachmentPull, try rate(peers, copy, other, .pull, count, on: stage))
        try copy.close()
        try source.close()
        try peers.close()
    }

    // MARK: Documents

    private static func load(_ database: Database, _ count: Int, size: Int) throws {
        let documents = try database.defaultCollection
        for start in stride(from: 0, to: count, by: 1_000) {
            try database.write { batch in
                for index in start..<min(start + 1_000, count) {
                    let json = String(decoding: ServedDocument.json(index, size: size), as: UTF8.self)
                    try batch.save(json: json, id: ServedDocument.id(index), in: documents)
                }
            }
        }
    }

    private static func loadWithAttachments(_ database: Database, _ count: Int, seed: UInt64) throws {
        let documents = try database.defaultCollection
        var random = SplitMix64(seed: seed)
        for index in 0..<count {
            var document = MutableDocument(id: ServedDocument.id(index), ["n": .integer(Int64(index))])
            let bytes = (0..<attachmentSize).map { _ in UInt8(truncatingIfNeeded: random.next(below: 256)) }
            document.attachments["noise"] = Attachment(
                try database.saveBlob(bytes, contentType: "application/octet-stream"))
            try documents.save(&document)
        }
    }

    // MARK: Measuring

    /// Documents a second until `count` of them have gone one way.
    private static func rate(
        _ peers: RoostReplication, _ here: Database, _ other: Database,
        _ direction: ReplicationOptions.Direction, _ count: Int, on stage: Stage
    ) throws -> Double {
        let measurement = try stage.measure { try replicate(peers, here, other, direction) }
        let target = direction == .push ? other : here
        guard try target.defaultCollection.count == count else {
            throw BenchmarkError("not all documents were replicated")
        }
        return Double(count) / measurement.seconds
    }

    /// Milliseconds of a replication that finds nothing to do.
    private static func roundTime(
        _ peers: RoostReplication, _ here: Database, _ other: Database, on stage: Stage
    ) throws -> Double {
        var rounds = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                try replicate(peers, here, other, .push)
                rounds += 1
            } while Clock.seconds(since: start) < stage.seconds
        }
        return measurement.seconds * 1e3 / Double(rounds)
    }

    private static func replicate(
        _ peers: RoostReplication, _ here: Database, _ other: Database,
        _ direction: ReplicationOptions.Direction
    ) throws {
        var options = ReplicationOptions()
        options.direction = direction
        let replication = try peers.replicate(here, other, options)
        let status = try Blocking.wait { try await replication.finished }
        guard status.problemCount == 0 else { throw BenchmarkError("some documents were not replicated") }
    }

    /// Times from a commit here until the other database has told its listeners of it.
    private static func measureDelays(
        _ peers: RoostReplication, _ here: Database, _ other: Database, on stage: Stage
    ) throws {
        let arrival = Mutex<UInt64>(0)
        let arrived = DispatchSemaphore(value: 0)
        let token = try other.defaultCollection.observe { _ in
            arrival.withLock { $0 = Clock.now() }
            arrived.signal()
        }
        var options = ReplicationOptions()
        options.direction = .push
        options.isContinuous = true
        let replication = try peers.replicate(here, other, options)
        var delays = LatencyHistogram()
        let documents = try here.defaultCollection
        for commit in -10..<commits {
            try documents.save(json: #"{"commit":\#(commit)}"#, id: "commit \(commit)")
            let start = Clock.now()
            guard arrived.wait(timeout: .now() + 30) == .success else {
                throw BenchmarkError("a change did not arrive within 30 s")
            }
            let end = arrival.withLock { $0 }
            // The first ones wait until the replication has begun.
            if commit >= 0 { delays.record(nanoseconds: end > start ? end - start : 0) }
        }
        try Blocking.wait { await replication.stop() }
        withExtendedLifetime(token) {}
        stage.record(.pushDelay, delays.quantile(0.5) / 1e6)
        stage.record(.pushDelayP99, delays.quantile(0.99) / 1e6)
    }
}
