/// The same rows with stores of several sizes, one after another.
enum ScalingRun {
    /// What shows how a store grows; the other rows follow from these.
    private static let rows: [Row] = [.orderedLoad, .randomLoad, .updates, .randomReads, .scans, .opening]

    static func run(_ options: Options) throws {
        let contenders = options.contenders.isEmpty ? defaultContenders : options.contenders
        let runs = try options.scale.map { docs in
            var step = options
            (step.docs, step.rows, step.rounds, step.contenders) = (docs, rows, 1, contenders)
            Console.note("\(docs) documents")
            return try Conductor(step).run()
        }
        for run in runs { print(MarkdownReport(run).text) }
        if let directory = options.results { try ResultFiles.write(scaling: runs, to: directory) }
        if let failure = runs.lazy.compactMap(\.failures.first).first { throw failure }
    }

    /// One of each: variants of a contender would only crowd the plot.
    private static var defaultContenders: [String] {
        ["raw", "roost", "lmdb", "sqlite", "rocksdb"].filter { name in
            ContenderCatalogue.all.contains { $0.name == name }
        }
    }
}
