/// R4: random reads on one thread while another commits random updates, 100 at a time, without a pause.
enum ReadBesideWriterRow {
    static func run(on stage: Stage) throws {
        let store = try stage.open()
        let corpus = stage.corpus
        let seconds = stage.seconds
        let isOver = Flag()
        let results = try onThreads(
            2,
            prepare: { thread in
                let reader = try store.makeReader()
                // The reader's own caches fill before the clock starts.
                if thread == 0 { _ = try read(corpus, reader, seconds: seconds) }
                return (reader, try store.makeWriter())
            },
            work: { thread, hands in
                if thread == 1 { return try write(corpus, hands.1, until: isOver) }
                defer { isOver.raise() }
                let meter = Meter()
                var progress = try read(corpus, hands.0, seconds: seconds)
                progress.measurement = meter.stop()
                return progress
            })
        stage.note(results[0].measurement)
        stage.record(.readsBesideWriter, results[0].rate)
        stage.record(.readLatency, results[0].latencies.quantile(0.99) / 1_000)
        stage.record(.writerBesideReads, results[1].rate)
        try store.settle()
        try store.close()
    }

    private struct Progress: Sendable {
        var rate = 0.0
        var latencies = LatencyHistogram()
        var measurement = Measurement()
    }

    /// Each read is timed by itself.
    private static func read(
        _ corpus: Corpus, _ reader: any ContenderReader, seconds: Double
    ) throws -> Progress {
        var progress = Progress()
        var random = SplitMix64(seed: corpus.seed)
        var sink = Sink()
        let start = Clock.now()
        let end = start + UInt64(seconds * 1e9)
        var before = start
        while before < end {
            try reader.read(DocumentKey(corpus, random.next(below: corpus.count)), into: &sink)
            let after = Clock.now()
            progress.latencies.record(nanoseconds: after - before)
            before = after
        }
        progress.rate = Double(sink.documents) / Clock.seconds(since: start)
        sink.finish()
        return progress
    }

    private static func write(
        _ corpus: Corpus, _ writer: any ContenderWriter, until isOver: Flag
    ) throws -> Progress {
        let perCommit = min(UpdateSequence.documentsPerCommit, corpus.count)
        let batch = Batch(capacity: perCommit, valueSize: corpus.valueSize)
        var sequence = UpdateSequence(corpus)
        let start = Clock.now()
        while !isOver.isRaised {
            sequence.fill(batch, count: perCommit)
            try writer.commit(batch, .update)
        }
        return Progress(rate: Double(sequence.updates) / Clock.seconds(since: start))
    }
}
