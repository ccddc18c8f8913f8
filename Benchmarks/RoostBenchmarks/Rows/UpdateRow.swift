/// W3: a fifth of the documents updated in random order, 100 per commit.
enum UpdateRow {
    static func run(on stage: Stage) throws {
        let corpus = stage.corpus
        let perCommit = min(UpdateSequence.documentsPerCommit, corpus.count)
        let commits = max(1, corpus.count / 5 / perCommit)
        let batch = Batch(capacity: perCommit, valueSize: corpus.valueSize)
        var sequence = UpdateSequence(corpus)
        let store = try stage.open()
        let writer = try store.makeWriter()
        Warmth.settle()
        let meter = Meter()
        for _ in 0..<commits {
            sequence.fill(batch, count: perCommit)
            try writer.commit(batch, .update)
        }
        let updated = meter.stop()
        try store.settle()
        try store.close()
        let settled = meter.stop()
        stage.note(updated)
        let count = Double(sequence.updates)
        stage.record(.updates, count / updated.seconds)
        stage.record(.updatesSettled, count / settled.seconds)
        let bytes = count * Double(corpus.documentSize)
        stage.record(.updatesWritten, settled.bytesWritten / bytes)
        stage.record(.updatesBlocks, settled.blockBytes / bytes)
        stage.record(.updatesSyncs, updated.syncs / Double(commits))
        let updatedDocuments = sequence.updatedDocuments()
        try stage.verify { updatedDocuments.contains($0) ? 1 : 0 }
    }
}
