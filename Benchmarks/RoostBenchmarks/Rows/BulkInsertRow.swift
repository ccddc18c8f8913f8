/// H1: documents in batches of 1,000 to `_bulk_docs`, from one client.
enum BulkInsertRow {
    static func run(on stage: Stage) throws {
        let memory = PeakMemory()
        let server = try stage.openServer()
        try server.load(0, size: stage.corpus.valueSize)
        let count = stage.corpus.count
        let measurement = try stage.measure { try server.insert(count, size: stage.corpus.valueSize) }
        stage.record(.bulkInserts, Double(count) / measurement.seconds)
        stage.record(.bulkInsertMemory, memory.megabytes())
        try server.close()
    }
}
