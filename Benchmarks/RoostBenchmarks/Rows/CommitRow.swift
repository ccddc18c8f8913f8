/// W4 and W5: new documents with random IDs, each a commit of its own.
enum CommitRow {
    static func run(on stage: Stage, threads: Int) throws {
        let store = try stage.open()
        let corpus = stage.corpus
        let nanoseconds = UInt64(stage.seconds * 1e9)
        Warmth.settle()
        let meter = Meter()
        let commits = try onThreads(
            threads, prepare: { _ in try store.makeWriter() },
            work: { thread, writer in try commit(corpus, writer, thread: thread, nanoseconds: nanoseconds) }
        ).reduce(0, +)
        let measurement = meter.stop()
        stage.note(measurement)
        let count = Double(commits)
        stage.record(threads == 1 ? .singleCommits : .parallelCommits, count / measurement.seconds)
        stage.record(threads == 1 ? .singleCommitSyncs : .parallelCommitSyncs, measurement.syncs / count)
        if threads == 1 { stage.record(.singleCommitBytes, measurement.bytesWritten / count) }
        try store.settle()
        try store.close()
        try stage.verify { _ in 0 }
    }

    /// Commits for `nanoseconds` and returns how often.
    private static func commit(
        _ corpus: Corpus, _ writer: any ContenderWriter, thread: Int, nanoseconds: UInt64
    ) throws -> Int {
        let batch = Batch(capacity: 1, valueSize: corpus.valueSize)
        let end = Clock.now() + nanoseconds
        var commits = 0
        while Clock.now() < end {
            batch.removeAll()
            let index = thread << 40 | commits
            unsafe batch.append(corpus.freshID(index), corpus.value(of: commits, version: 2 + thread))
            try writer.commit(batch, .insert)
            commits += 1
        }
        return commits
    }
}
