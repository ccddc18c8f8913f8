/// R1: random documents by ID, from one thread and from two.
enum RandomReadRow {
    static func run(on stage: Stage) throws {
        let store = try stage.open()
        for (threads, metric) in [(1, Metric.randomReads), (2, .randomReadsTwoThreads)] {
            _ = try readsPerSecond(store, stage, threads: threads, seconds: stage.seconds / 2)
            let rate = try readsPerSecond(store, stage, threads: threads, seconds: stage.seconds)
            stage.record(metric, rate)
        }
        try store.close()
    }

    private static func readsPerSecond(
        _ store: any Contender, _ stage: Stage, threads: Int, seconds: Double
    ) throws -> Double {
        let corpus = stage.corpus
        var rate = 0.0
        _ = try stage.measure {
            rate = try onThreads(
                threads, prepare: { _ in try store.makeReader() },
                work: { thread, reader in
                    try read(corpus, reader, seed: corpus.seed &+ UInt64(thread), seconds: seconds)
                }
            ).reduce(0, +)
        }
        return rate
    }

    /// Reads for `seconds` and returns how many a second.
    private static func read(
        _ corpus: Corpus, _ reader: any ContenderReader, seed: UInt64, seconds: Double
    ) throws -> Double {
        var random = SplitMix64(seed: seed)
        var sink = Sink()
        let start = Clock.now()
        let end = start + UInt64(seconds * 1e9)
        repeat {
            for _ in 0..<64 {
                try reader.read(DocumentKey(corpus, random.next(below: corpus.count)), into: &sink)
            }
        } while Clock.now() < end
        defer { sink.finish() }
        return Double(sink.documents) / Clock.seconds(since: start)
    }
}
