/// B2: the whole blob, checked.
enum BlobReadRow {
    static func run(on stage: Stage) throws {
        let memory = PeakMemory()
        let store = try stage.openBlobs()
        var sink = Sink()
        let measurement = try stage.measure { unsafe try store.readChecked { unsafe sink.accept($0) } }
        sink.finish()
        try store.close()
        stage.record(.blobRead, Double(stage.blobSize) / measurement.seconds / 1e6)
        stage.record(.blobReadMemory, memory.megabytes())
    }
}
