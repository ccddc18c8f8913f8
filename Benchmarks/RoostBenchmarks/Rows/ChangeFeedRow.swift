import Roost

/// D1: the changes of a collection, as a replicator or a view's index follows them.
enum ChangeFeedRow {
    static func run(on stage: Stage) throws {
        let database = try Database.open(stage.directory)
        let documents = try database.defaultCollection
        let last = try documents.snapshot().lastSequence
        stage.record(
            .changes,
            try rate(stage) {
                let cursor = try documents.snapshot().changeCursor()
                var count = 0
                while try cursor.next() != nil { count += 1 }
                return count
            })
        stage.record(
            .changesBodies,
            try rate(stage) {
                let cursor = try documents.snapshot().changeCursor()
                var count = 0
                while let change = try cursor.next() {
                    guard try cursor.document(of: change)["value"].data != nil else { return 0 }
                    count += 1
                }
                return count
            })
        stage.record(
            .changesSince,
            1e6
                / (try rate(stage) {
                    try documents.snapshot().changes(since: last - 100).count == 100 ? 1 : 0
                }))
        stage.record(
            .changeCount,
            1e6 / (try rate(stage) { try documents.snapshot().changeCount(since: last / 2) > 0 ? 1 : 0 }))
        try database.close()
    }

    /// What `body` counts, a second, repeated for as long as rows that are bounded by time go on.
    private static func rate(_ stage: Stage, _ body: () throws -> Int) throws -> Double {
        _ = try body()
        var total = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            repeat {
                let count = try body()
                guard count > 0 else { throw BenchmarkError("the change feed lacks what was stored") }
                total += count
            } while Clock.seconds(since: start) < stage.seconds
        }
        return Double(total) / measurement.seconds
    }
}
