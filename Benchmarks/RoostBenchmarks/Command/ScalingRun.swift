/// The same rows with stores of several sizes, one after another.
enum ScalingRun {
    /// What shows how a store grows; the other rows follow from these.
    private static let rows: [Row] = [.orderedLoad, .randomLoad, .updates, .randomReads, .scans, .opening]

    /// The longest random load that a store of the next size may be expected to take, in seconds.
    private static let longestLoad = 300.0

    static func run(_ options: Options) throws {
        var contenders = options.contenders.isEmpty ? defaultContenders : options.contenders
        var runs: [Results] = []
        for docs in options.scale {
            if let last = runs.last { contenders.removeAll { isTooSlow($0, docs, after: last) } }
            var step = options
            (step.docs, step.rows, step.rounds, step.contenders) = (docs, rows, 1, contenders)
            Console.note("\(docs) documents")
            runs.append(try Conductor(step).run())
            if let directory = options.results { try ResultFiles.write(scaling: runs, to: directory) }
        }
        for run in runs { print(MarkdownReport(run).text) }
        if let failure = runs.lazy.compactMap(\.failures.first).first { throw failure }
    }

    /// Whether a random load of `docs` documents would take too long at the rate of the run before.
    private static func isTooSlow(_ contender: String, _ docs: Int, after last: Results) -> Bool {
        guard let rate = last.median(.randomLoad, of: contender), Double(docs) / rate > longestLoad else {
            return false
        }
        Console.note("\(contender) is left out from here on, for the time that its random loads take")
        return true
    }

    /// One of each: variants of a contender would only crowd the plot.
    private static var defaultContenders: [String] {
        ["raw", "roost", "lmdb", "sqlite", "rocksdb"].filter { name in
            ContenderCatalogue.all.contains { $0.name == name }
        }
    }
}
