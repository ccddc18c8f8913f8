/// D3: documents of some 300 bytes of JSON, saved and read as a program does it.
enum DocumentRow {
    private static let perLoad = 1_000
    private static let perUpdate = 100

    static func run(on stage: Stage) throws {
        let shuffled = (0..<stage.corpus.count).map { Note($0) }
        let notes = shuffled.sorted { $0.id < $1.id }
        let records = notes.map { NoteRecord($0) }
        let store = try stage.openDocuments()
        stage.record(
            .jsonLoad, try rate(stage, notes, perLoad) { try store.insert($0, into: .texts) })
        stage.record(.codableLoad, try rate(stage, records, perLoad) { try store.insert($0) })
        stage.record(
            .jsonRandomLoad, try rate(stage, shuffled, perLoad) { try store.insert($0, into: .shuffled) })
        let updates = (0..<max(perUpdate, notes.count / 5)).map { Note($0 * 7919 % notes.count, version: 1) }
        stage.record(.jsonUpdates, try rate(stage, updates, perUpdate) { try store.update($0) })
        stage.record(
            .codableReads,
            try readRate(stage, records) { expected in
                guard let record = try store.record(expected.id) else { return false }
                return record.n == expected.n && record.place.lat == expected.place.lat
                    && record.text == expected.text
            })
        stage.record(
            .summaryReads,
            try readRate(stage, records) { expected in
                guard let summary = try store.summary(expected.id) else { return false }
                return summary.n == expected.n && summary.group == expected.group
            })
        try scan(store, shuffled, updates, on: stage)
        try store.close()
    }

    /// How many elements a second `save` takes, given a few at a time.
    private static func rate<Element>(
        _ stage: Stage, _ all: [Element], _ perCommit: Int, _ save: (ArraySlice<Element>) throws -> Void
    ) throws -> Double {
        let measurement = try stage.measure {
            for start in stride(from: 0, to: all.count, by: perCommit) {
                try save(all[start..<min(start + perCommit, all.count)])
            }
        }
        return Double(all.count) / measurement.seconds
    }

    /// How many random records a second `matches` reads and finds to be what was stored.
    private static func readRate(
        _ stage: Stage, _ records: [NoteRecord], _ matches: (NoteRecord) throws -> Bool
    ) throws -> Double {
        var random = SplitMix64(seed: stage.corpus.seed)
        var reads = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                guard try matches(records[random.next(below: records.count)]) else {
                    throw BenchmarkError("a document that was stored is missing, or another")
                }
                reads += 1
            } while Clock.seconds(since: start) < stage.seconds
        }
        return Double(reads) / measurement.seconds
    }

    private static func scan(
        _ store: any DocumentContender, _ notes: [Note], _ updates: [Note], on stage: Stage
    ) throws {
        var values = Dictionary(uniqueKeysWithValues: notes.map { ($0.id, $0.n) })
        for note in updates { values[note.id] = note.n }
        let expected = values.values.reduce(0, +)
        var scans = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                guard try store.sum() == expected else {
                    throw BenchmarkError("a scan reads something else than was stored")
                }
                scans += 1
            } while Clock.seconds(since: start) < stage.seconds
        }
        stage.record(.propertyScan, Double(scans * notes.count) / measurement.seconds)
    }
}
