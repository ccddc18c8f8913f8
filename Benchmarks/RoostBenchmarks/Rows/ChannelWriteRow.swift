import RoostREST

/// G1: documents that a sync function is asked about, and a grant of the channel that all of them are in.
enum ChannelWriteRow {
    static func run(on stage: Stage) throws {
        let (count, size) = (stage.corpus.count, stage.corpus.valueSize)
        stage.record(.plainWrites, try rate("plain", nil, count, size, on: stage).rate)
        let (rate, channels) = try rate("swift", RoostChannels.swift, count, size, on: stage)
        stage.record(.syncedWrites, rate)
        if let sync = try RoostChannels.javaScript() {
            stage.record(.scriptedWrites, try self.rate("js", sync, count, size, on: stage).rate)
        }
        let (grant, backfill) = try Blocking.wait {
            let start = Clock.now()
            let body = Array(#"{"channels":[],"access":{"ann":["all"]}}"#.utf8)
            try await channels.ask("PUT", "/grant", body: body, wants: 201)
            let granted = Clock.now()
            let changes = try await channels.changes(of: "ann", "since=0")
            var bytes = 0
            while let piece = try await changes.next() { bytes += piece.count }
            guard bytes > count * 50 else { throw BenchmarkError("the user sees too little") }
            return (Double(granted - start) / 1e6, Double(count) / Clock.seconds(since: granted))
        }
        stage.record(.grant, grant)
        stage.record(.backfill, backfill)
    }

    /// How many documents are saved in a second, 1,000 a request, in a database of their own.
    private static func rate(
        _ name: String, _ sync: SyncFunction?, _ count: Int, _ size: Int, on stage: Stage
    ) throws -> (rate: Double, channels: RoostChannels) {
        let directory = stage.directory + "/" + name
        let channels = try Blocking.wait { try await RoostChannels(directory, sync: sync) }
        let start = Clock.now()
        try Blocking.wait {
            for first in stride(from: 0, to: count, by: 1_000) {
                try await channels.save(
                    (first..<min(first + 1_000, count)).map { index in
                        let json = String(
                            decoding: ServedDocument.json(index, id: ServedDocument.id(index), size: size),
                            as: UTF8.self)
                        return "{\"channels\":[\"all\",\"c\(index % 100)\"],\(json.dropFirst())"
                    })
            }
        }
        return (Double(count) / Clock.seconds(since: start), channels)
    }
}
