/// R2 and R2r: every document, ID and value, in the order of IDs or of sequences.
enum ScanRow {
    static func run(on stage: Stage) throws {
        let store = try stage.open()
        try scan(store, stage, .scanByID) { try $0.scanByID(into: &$1) }
        try scan(store, stage, .scanBySequence) { try $0.scanBySequence(into: &$1) }
        try store.close()
    }

    /// Scans by ID as the random load has left the store, compacts it, and scans again.
    static func runAfterRandomLoad(on stage: Stage) throws {
        let store = try stage.open()
        try scan(store, stage, .scanAfterRandomLoad) { try $0.scanByID(into: &$1) }
        if stage.isRaw { return try store.close() }
        try store.compactAndClose()
        let compacted = try stage.open()
        try scan(compacted, stage, .scanAfterCompaction) { try $0.scanByID(into: &$1) }
        try compacted.close()
    }

    /// Scans once to warm up and to check what is delivered, then as often as fits into the time.
    private static func scan(
        _ store: any Contender, _ stage: Stage, _ metric: Metric,
        _ body: (any ContenderReader, inout Sink) throws -> Void
    ) throws {
        let reader = try store.makeReader()
        var first = Sink()
        try body(reader, &first)
        if !stage.isRaw { try check(first, stage) }
        var sink = Sink()
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat { try body(reader, &sink) } while Clock.seconds(since: start) < stage.seconds
        }
        sink.finish()
        stage.record(metric, Double(sink.documents) / measurement.seconds)
    }

    private static func check(_ found: Sink, _ stage: Stage) throws {
        var expected = Sink()
        for index in 0..<stage.corpus.count {
            unsafe expected.expect(stage.corpus.id(of: index), stage.corpus.value(of: index, version: 0))
        }
        guard found.documents == expected.documents, found.digest == expected.digest else {
            throw BenchmarkError("a scan delivered other documents than were stored")
        }
    }
}
