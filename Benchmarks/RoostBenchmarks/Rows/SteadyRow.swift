import Foundation
import Roost

/// M1: one thread commits updates, new documents, deletions and documents that expire, ten changes at a time, while another reads
/// random documents, for 60 parts of `--seconds` each; compactions start by themselves.
enum SteadyRow {
    private static let parts = 60
    /// So many new documents are there before the oldest is deleted.
    private static let keptDocuments = 10_000

    static func run(on stage: Stage) throws {
        guard let store = try stage.open() as? DocumentLayerStore else {
            throw BenchmarkError("only Roost's documents have a steady state")
        }
        let (corpus, directory, documents) = (stage.corpus, stage.directory, store.documents)
        let clock = PartClock(parts: parts, seconds: stage.seconds)
        let results = try onThreads(3, prepare: { _ in }) { thread, _ in
            switch thread {
            case 0: try write(corpus, documents, clock)
            case 1: try read(corpus, documents, clock)
            default:
                try sizeParts(of: directory, clock) {
                    Double(try documents.database.statistics().liveBytes)
                }
            }
        }
        let (writes, reads) = (results[0].rates, results[1].rates)
        let sizes = results[2].rates
        let median = Summary(writes).median
        stage.record(.steadyWrites, median)
        stage.record(.steadyTrough, (writes.min() ?? 0) / median)
        stage.record(.steadyReads, Summary(reads).median)
        stage.record(.steadyCommit, results[0].latencies.quantile(0.999) / 1e6)
        stage.record(.steadyRead, results[1].latencies.quantile(0.999) / 1e3)
        stage.record(.steadySize, sizes.max() ?? 0)
        stage.progress = [
            .steadyWrites: writes, .steadyReads: reads, .steadyCommit: results[0].tails.map { $0 / 1e6 },
            .steadyRead: results[1].tails.map { $0 / 1e3 }, .steadySize: sizes,
        ]
        try store.close()
    }

    /// What a thread did in each part.
    private struct Progress: Sendable {
        /// How often a second; or what was measured.
        var rates: [Double] = []
        /// The 99.9th percentile of the latencies, in nanoseconds.
        var tails: [Double] = []
        /// Those of all parts.
        var latencies = LatencyHistogram()
    }

    /// Tells in which part a moment lies. All threads begin with the first that looks at it.
    private struct PartClock: Sendable {
        let parts: Int
        let seconds: Double

        /// Calls `body` for as long as each part takes; it answers how many operations it did.
        func measure(_ body: () throws -> Int) throws -> Progress {
            var progress = Progress()
            let start = Clock.now()
            for part in 1...parts {
                let (begin, end) = (Clock.now(), start + UInt64(Double(part) * seconds * 1e9))
                var (operations, latencies, before) = (0, LatencyHistogram(), Clock.now())
                while before < end {
                    operations += try body()
                    let after = Clock.now()
                    latencies.record(nanoseconds: after - before)
                    progress.latencies.record(nanoseconds: after - before)
                    before = after
                }
                progress.rates.append(Double(operations) / Clock.seconds(since: begin))
                progress.tails.append(latencies.quantile(0.999))
            }
            return progress
        }
    }

    private static func write(
        _ corpus: Corpus, _ documents: DocumentCollection, _ clock: PartClock
    ) throws -> Progress {
        var random = SplitMix64(seed: corpus.seed)
        var number = 0
        return try clock.measure {
            try documents.database.write { batch in
                for _ in 0..<7 {
                    let key = DocumentKey(corpus, random.next(below: corpus.count))
                    try save(key.text, corpus, number, &random, batch, documents)
                }
                try save("n\(number)", corpus, number, &random, batch, documents)
                try save("e\(number)", corpus, number, &random, batch, documents)
                try batch.setExpiration(
                    Date(timeIntervalSinceNow: 5 * clock.seconds), of: "e\(number)", in: documents)
                if number >= keptDocuments { try batch.delete("n\(number - keptDocuments)", in: documents) }
            }
            number += 1
            return 10
        }
    }

    private static func save(
        _ id: String, _ corpus: Corpus, _ version: Int, _ random: inout SplitMix64, _ batch: WriteTransaction,
        _ documents: DocumentCollection
    ) throws {
        let value = unsafe Array(corpus.value(of: random.next(below: corpus.count), version: version))
        var draft = MutableDocument(id: id, ["value": .data(value)])
        try batch.save(&draft, in: documents, onConflict: .lastWriteWins)
    }

    private static func read(
        _ corpus: Corpus, _ documents: DocumentCollection, _ clock: PartClock
    ) throws -> Progress {
        var random = SplitMix64(seed: corpus.seed + 1)
        return try clock.measure {
            let key = DocumentKey(corpus, random.next(below: corpus.count))
            guard let value = try documents.document(key.text)?["value"].data, value.count == corpus.valueSize
            else { throw BenchmarkError("a document that was stored is missing, or another") }
            return 1
        }
    }

    /// The size of the files at the end of each part, of the bytes that are alive then.
    private static func sizeParts(
        of directory: String, _ clock: PartClock, _ liveBytes: () throws -> Double
    ) rethrows -> Progress {
        var progress = Progress()
        for _ in 0..<clock.parts {
            Thread.sleep(forTimeInterval: clock.seconds)
            progress.rates.append(Double(FileTree.size(of: directory)) / (try liveBytes()))
        }
        return progress
    }
}
