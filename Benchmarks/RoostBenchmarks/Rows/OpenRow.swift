/// O1: opening the loaded store, and reading the first document, with its pages cached and not.
enum OpenRow {
    static func run(on stage: Stage) throws {
        // What the first opening tidies up (a log to replay) is no part of the later ones.
        _ = try open(stage)
        let meter = Meter()
        let warm = try (0..<30).map { _ in try open(stage) }
        stage.note(meter.stop())
        stage.record(.openWarm, Summary(warm.map(\.opened)).median)
        stage.record(.openWarmRead, Summary(warm.map(\.read)).median)
        let cold = try (0..<7).map { _ in
            Warmth.dropFiles(in: stage.directory)
            return try open(stage)
        }
        stage.record(.openCold, Summary(cold.map(\.opened)).median)
        stage.record(.openColdRead, Summary(cold.map(\.read)).median)
        if !stage.isRaw { stage.record(.snapshot, try nanosecondsPerSnapshot(stage)) }
    }

    private static func nanosecondsPerSnapshot(_ stage: Stage) throws -> Double {
        let store = try stage.open()
        let reader = try store.makeReader()
        let count = 100_000
        for _ in 0..<count / 10 { try reader.takeSnapshot() }
        let start = Clock.now()
        for _ in 0..<count { try reader.takeSnapshot() }
        let seconds = Clock.seconds(since: start)
        try store.close()
        return seconds * 1e9 / Double(count)
    }

    /// Microseconds until the store was open and until one document had been read.
    private static func open(_ stage: Stage) throws -> (opened: Double, read: Double) {
        let key = DocumentKey(stage.corpus, stage.corpus.count / 2)
        let start = Clock.now()
        let store = try stage.open()
        let opened = Clock.seconds(since: start) * 1e6
        var sink = Sink()
        try store.makeReader().read(key, into: &sink)
        let read = Clock.seconds(since: start) * 1e6
        try store.close()
        return (opened, read)
    }
}
