/// W1 and W2: all documents into an empty store, 1,000 per commit.
enum LoadRow {
    static let documentsPerCommit = 1_000

    static func run(on stage: Stage, inOrder: Bool) throws {
        let corpus = stage.corpus
        let batch = Batch(capacity: documentsPerCommit, valueSize: corpus.valueSize)
        let memory = PeakMemory()
        let store = try stage.open()
        Warmth.settle()
        let meter = Meter()
        let progress = try load(corpus, batch, try store.makeWriter(), inOrder: inOrder)
        let loaded = meter.stop()
        try store.settle()
        try store.close()
        let settled = meter.stop()
        stage.note(loaded)
        let count = Double(corpus.count)
        let bytes = count * Double(corpus.documentSize)
        stage.record(inOrder ? .orderedLoad : .randomLoad, count / loaded.seconds)
        stage.record(inOrder ? .orderedLoadSettled : .randomLoadSettled, count / settled.seconds)
        stage.record(inOrder ? .orderedLoadWritten : .randomLoadWritten, settled.bytesWritten / bytes)
        stage.record(inOrder ? .orderedLoadBlocks : .randomLoadBlocks, settled.blockBytes / bytes)
        if inOrder {
            stage.record(.peakMemory, memory.megabytes())
            stage.record(.orderedLoadSyncs, loaded.syncs * Double(documentsPerCommit) / count)
            stage.record(.fileSize, Double(FileTree.size(of: stage.directory)) / bytes)
        }
        if !inOrder { stage.progress = [.randomLoad: progress] }
        try stage.verify { _ in 0 }
    }

    /// Parts of a load whose speed is noted.
    private static let parts = 50

    private static func load(
        _ corpus: Corpus, _ batch: Batch, _ writer: any ContenderWriter, inOrder: Bool
    ) throws -> [Double] {
        let perPart = max(corpus.count / parts, documentsPerCommit)
        var progress: [Double] = []
        var (partStart, partCount) = (Clock.now(), 0)
        for start in stride(from: 0, to: corpus.count, by: documentsPerCommit) {
            batch.removeAll()
            for position in start..<min(start + documentsPerCommit, corpus.count) {
                let index = inOrder ? position : corpus.randomOrder[position]
                unsafe batch.append(corpus.id(of: index), corpus.value(of: index, version: 0))
            }
            try writer.commit(batch, inOrder ? .append : .insert)
            partCount += batch.count
            guard partCount >= perPart else { continue }
            progress.append(Double(partCount) / Clock.seconds(since: partStart))
            (partStart, partCount) = (Clock.now(), 0)
        }
        return progress
    }
}
