/// V1: the first build of a view, keeping it up, and asking it.
enum ViewRow {
    static func run(on stage: Stage) throws {
        let count = stage.corpus.count
        let store = try stage.openViews()
        for start in stride(from: 0, to: count, by: 10_000) {
            try store.save((start..<min(start + 10_000, count)).map { Note($0) })
        }
        let processor = Clock.processorSeconds()
        let built = try stage.measure { try store.build() }
        stage.record(.viewBuild, Double(count) / built.seconds)
        stage.record(.viewBuildProcessor, Double(count) / (Clock.processorSeconds() - processor))
        stage.record(.viewSize, Double(try store.size()) / Double(count))
        try ask(store, stage)
        for (changes, metric) in [
            (1, Metric.viewCatchUp), (100, .viewCatchUp100), (100_000, .viewCatchUpMany),
        ]
        where changes <= count {
            let notes = (0..<changes).map { Note($0 * 7919 % count, version: changes) }
            let saved = try stage.measure { try store.save(notes) }
            let caughtUp = try stage.measure { try store.catchUp() }
            stage.record(metric, caughtUp.seconds * 1e3)
            if changes > 1_000 {
                stage.record(.viewSaveAndCatchUp, Double(changes) / (saved.seconds + caughtUp.seconds))
            }
        }
        try store.close()
    }

    private static func ask(_ store: any ViewContender, _ stage: Stage) throws {
        var random = SplitMix64(seed: stage.corpus.seed)
        func group() -> String { "group \(random.next(below: Note.groups))" }
        stage.record(
            .viewCount,
            try microseconds(stage) { try store.count(group: group(), 100_000..<900_000) > 0 })
        stage.record(
            .viewRange,
            try microseconds(stage) {
                try store.entries(group: group(), from: random.next(below: 1_000), limit: 100) > 0
            })
        stage.record(.viewGroups, try microseconds(stage) { try store.groups().count == Note.groups })
    }

    private static func microseconds(_ stage: Stage, _ body: () throws -> Bool) throws -> Double {
        var times = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                guard try body() else { throw BenchmarkError("an index lacks what was stored") }
                times += 1
            } while Clock.seconds(since: start) < stage.seconds
        }
        return measurement.seconds * 1e6 / Double(times)
    }
}
