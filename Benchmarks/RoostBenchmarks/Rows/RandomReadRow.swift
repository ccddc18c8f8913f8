/// R1: random documents by ID, from one thread and from two.
enum RandomReadRow {
    static func run(on stage: Stage) throws {
        let store = try stage.open()
        for (threads, metric) in [(1, Metric.randomReads), (2, .randomReadsTwoThreads)] {
            stage.record(metric, try readsPerSecond(store, stage, threads: threads))
        }
        try store.close()
    }

    private static func readsPerSecond(
        _ store: any Contender, _ stage: Stage, threads: Int
    ) throws -> Double {
        let corpus = stage.corpus
        let seconds = stage.seconds
        let rates = try onThreads(
            threads,
            prepare: { thread in
                let reader = try store.makeReader()
                // The reader's own caches fill before the clock starts.
                _ = try read(corpus, reader, seed: ~UInt64(thread), seconds: seconds)
                return reader
            },
            work: { thread, reader in
                let meter = Meter()
                let rate = try read(corpus, reader, seed: UInt64(thread), seconds: seconds)
                return (rate: rate, measurement: meter.stop())
            })
        rates.forEach { stage.note($0.measurement) }
        return rates.map(\.rate).reduce(0, +)
    }

    /// Reads for `seconds` and returns how many a second.
    private static func read(
        _ corpus: Corpus, _ reader: any ContenderReader, seed: UInt64, seconds: Double
    ) throws -> Double {
        var random = SplitMix64(seed: corpus.seed &+ seed)
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
