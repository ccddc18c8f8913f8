/// C2: how long the commits of a writer take while another thread compacts.
enum CompactionPauseRow {
    static func run(on stage: Stage) throws {
        let opened = try stage.open()
        guard let store = opened as? any CompactingContender else {
            throw BenchmarkError("this contender can't compact beside a writer")
        }
        let corpus = stage.corpus
        let isOver = Flag()
        let latencies = try onThreads(
            2, prepare: { _ in try store.makeWriter() },
            work: { thread, writer in
                if thread == 0 { return try commit(corpus, writer, until: isOver) }
                defer { isOver.raise() }
                try store.compact()
                return LatencyHistogram()
            })
        stage.record(.compactionPause, latencies[0].quantile(1) / 1e6)
        stage.record(.usualCommit, latencies[0].quantile(0.99) / 1e6)
        try store.settle()
        try store.close()
    }

    private static func commit(
        _ corpus: Corpus, _ writer: any ContenderWriter, until isOver: Flag
    ) throws -> LatencyHistogram {
        let batch = Batch(capacity: 1, valueSize: corpus.valueSize)
        var sequence = UpdateSequence(corpus)
        var latencies = LatencyHistogram()
        // Once more after the end, for the commit that waited for it.
        var rest = 2
        while rest > 0 {
            if isOver.isRaised { rest -= 1 }
            sequence.fill(batch, count: 1)
            let start = Clock.now()
            try writer.commit(batch, .update)
            latencies.record(nanoseconds: Clock.now() - start)
        }
        return latencies
    }
}
