import Roost

/// V2: what views cost who writes, and who opens.
enum ViewUpkeepRow {
    private static let views = 3

    static func run(on stage: Stage) throws {
        let count = min(stage.corpus.count, 100_000)
        let store = try RoostViews(stage.directory)
        try store.save((0..<count).map { Note($0) })
        try store.close()
        // In turns, so that what the machine does besides meets both.
        var (with, without): ([Double], [Double]) = ([], [])
        for round in 0..<3 {
            without.append(try commits(stage, count, round: 2 * round, views: 0))
            with.append(try commits(stage, count, round: 2 * round + 1, views: views))
        }
        stage.record(.commitsWithoutViews, Summary(without).median)
        stage.record(.commitsBesideViews, Summary(with).median)
        stage.record(.openWithoutViews, try opening(stage, views: 0))
        stage.record(.openWithViews, try opening(stage, views: 20))
    }

    /// Single durable commits a second, with a follower that keeps this many views up.
    private static func commits(_ stage: Stage, _ count: Int, round: Int, views: Int) throws -> Double {
        let database = try RoostViews.open(stage.directory, views: 0)
        let documents = try database.defaultCollection
        for number in 0..<views {
            try documents.view(RoostViews.byGroup("kept \(number)")).update()
        }
        var commits = 0
        let measurement = try stage.measure {
            let start = Clock.now()
            while Clock.seconds(since: start) < stage.seconds {
                let note = Note(commits * 7919 % count, version: 10 + round)
                _ = try documents.save(json: note.json, id: note.id)
                commits += 1
            }
        }
        try database.close()
        return Double(commits) / measurement.seconds
    }

    /// Microseconds until the database is open.
    private static func opening(_ stage: Stage, views: Int) throws -> Double {
        let database = try RoostViews.open(stage.directory, views: 0)
        for number in 0..<views {
            try database.defaultCollection.view(RoostViews.byGroup("view \(number)")).update()
        }
        try database.close()
        let samples = try (0..<30).map { _ in
            let start = Clock.now()
            let database = try RoostViews.open(stage.directory, views: views)
            let seconds = Clock.seconds(since: start)
            try database.close()
            return seconds * 1e6
        }
        return Summary(samples).median
    }
}
