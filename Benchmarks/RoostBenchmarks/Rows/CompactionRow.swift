/// C1: the space of the documents that W3 replaced is given back, durably.
enum CompactionRow {
    static func run(on stage: Stage) throws {
        let store = try stage.open()
        let measurement = try stage.measure { try store.compactAndClose() }
        let liveBytes = Double(stage.corpus.count * stage.corpus.documentSize)
        stage.record(.compaction, measurement.seconds)
        stage.record(.compactionWritten, measurement.bytesWritten / liveBytes)
    }
}
