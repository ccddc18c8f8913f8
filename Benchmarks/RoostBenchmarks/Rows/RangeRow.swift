/// R3: 100 documents, ID and value, from a random ID on.
enum RangeRow {
    static let documentsPerRange = 100

    static func run(on stage: Stage) throws {
        let store = try stage.open()
        try run(try store.makeReader(), on: stage)
        try store.close()
    }

    private static func run(_ reader: any ContenderReader, on stage: Stage) throws {
        _ = try scans(reader, stage, seconds: stage.seconds / 2)
        var count = 0
        let measurement = try stage.measure { count = try scans(reader, stage, seconds: stage.seconds) }
        stage.record(.ranges, Double(count) / measurement.seconds)
    }

    private static func scans(_ reader: any ContenderReader, _ stage: Stage, seconds: Double) throws -> Int {
        let corpus = stage.corpus
        let length = min(documentsPerRange, corpus.count)
        var random = SplitMix64(seed: corpus.seed)
        var sink = Sink()
        var count = 0
        let end = Clock.now() + UInt64(seconds * 1e9)
        while Clock.now() < end {
            let first = random.next(below: corpus.count - length + 1)
            try reader.scanRange(from: DocumentKey(corpus, first), count: length, into: &sink)
            count += 1
        }
        guard sink.documents == count * length else {
            throw BenchmarkError("a range delivered another number of documents than asked for")
        }
        sink.finish()
        return count
    }
}
