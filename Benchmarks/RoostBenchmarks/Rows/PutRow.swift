/// H2: new documents, one in a PUT.
enum PutRow {
    static func run(on stage: Stage) throws {
        let server = try stage.openServer()
        try server.load(1_000, size: stage.corpus.valueSize)
        for (clients, metric) in [(1, Metric.puts), (16, .putsOfMany)] {
            let size = stage.corpus.valueSize
            stage.record(
                metric,
                try stage.rate(clients, of: server) { client, number in
                    ServerRequest(
                        method: "PUT", target: "\(ServedDocument.database)/of-\(clients)-\(client)-\(number)",
                        body: ServedDocument.json(number, size: size), status: 201)
                })
        }
        try server.close()
    }
}

extension Stage {
    /// How many requests a second so many clients get answered.
    func rate(
        _ clients: Int, of server: any ServerContender,
        _ request: @escaping @Sendable (_ client: Int, _ number: Int) -> ServerRequest
    ) throws -> Double {
        Warmth.settle()
        let end = Clock.now() + UInt64(seconds * 1e9)
        var requests = 0
        let meter = Meter()
        requests = try server.perform(clients: clients) { client, number in
            Clock.now() < end ? request(client, number) : nil
        }
        let measurement = meter.stop()
        // What works for a server in other processes is no disturbance.
        if !server.isConstant { note(measurement) }
        return Double(requests) / measurement.seconds
    }
}
