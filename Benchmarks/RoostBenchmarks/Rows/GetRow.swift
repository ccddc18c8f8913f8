/// H3: one document in a GET, any of those that there are.
enum GetRow {
    static func run(on stage: Stage) throws {
        let memory = PeakMemory()
        let server = try stage.openServer()
        let corpus = stage.corpus
        try server.load(corpus.count, size: corpus.valueSize)
        for (clients, metric) in [(1, Metric.gets), (16, .getsOfMany)] {
            stage.record(
                metric,
                try stage.rate(clients, of: server) { client, number in
                    let mixed = SplitMix64.mix(corpus.seed &+ UInt64(client << 40 | number))
                    let index = Int(mixed % UInt64(corpus.count))
                    return ServerRequest(target: "\(ServedDocument.database)/\(ServedDocument.id(index))")
                })
        }
        if !server.isConstant { stage.record(.getMemory, memory.megabytes()) }
        try server.close()
    }
}
