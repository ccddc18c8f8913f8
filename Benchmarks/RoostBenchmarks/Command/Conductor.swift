import Foundation

/// Takes the samples: in every round each row, and in each row every contender in turn, another one first each
/// time.
struct Conductor {
    private static let attempts = 3

    private let options: Options
    private let contenders: [ContenderEntry]
    /// What some row starts from, and what that is made of. With ten million documents, others would take gigabytes.
    private let needed: Set<Row.State>
    private let workshop: Workshop
    private let start = Clock.now()

    init(_ options: Options) throws {
        self.options = options
        needed = Set(options.rows.flatMap { Array(sequence(first: $0.start) { $0.maker?.start }) })
        contenders =
            try options.contenders.isEmpty
            ? ContenderCatalogue.all : options.contenders.map(ContenderCatalogue.named)
        workshop = try Workshop(
            root: options.directory, storeBytes: options.docs * (DocumentID.size + options.valueSize))
    }

    func run() throws -> Results {
        defer { workshop.remove() }
        var results = Results(options: options, contenders: contenders)
        for round in 0..<options.rounds {
            let perRound = round == 0 ? 0 : Clock.seconds(since: start) / Double(round)
            if Clock.seconds(since: start) + perRound > options.limit { break }
            for row in options.rows {
                let taking = contenders.filter { $0.rows.contains(row) }
                for place in taking.indices {
                    let entry = taking[(place + round) % taking.count]
                    do {
                        let outcome = try sample(row, entry)
                        results.add(outcome, of: entry)
                        report(round, row, entry, outcome)
                    } catch let error as BenchmarkError {
                        // What the others take hours to measure is not given up for it.
                        results.failures.append(error)
                        Console.note("round \(round + 1)  \(error)")
                    }
                }
            }
        }
        return results
    }

    /// A sample of `row`, the first undisturbed one or the least disturbed of three. Once half of the time limit
    /// is gone, nothing is repeated.
    private func sample(_ row: Row, _ entry: ContenderEntry) throws -> Outcome {
        if !entry.known.isEmpty {
            let figures = entry.known.filter { $0.key.row == row }.map { ($0.key.rawValue, $0.value) }
            return Outcome(figures: Dictionary(uniqueKeysWithValues: figures), progress: [:], disturbance: 0)
        }
        try provide(row.start, entry)
        var best: Outcome?
        for _ in 0..<Self.attempts {
            let outcome = try perform(row, entry)
            if outcome.disturbance < best?.disturbance ?? .infinity { best = outcome }
            if !outcome.isDisturbed || Clock.seconds(since: start) > options.limit / 2 { break }
        }
        return best!
    }

    /// Makes the state that a row starts from, where no sample has left it yet.
    private func provide(_ state: Row.State, _ entry: ContenderEntry) throws {
        guard let maker = state.maker, !workshop.has(state, of: entry.name) else { return }
        try provide(maker.start, entry)
        _ = try perform(maker, entry)
    }

    private func perform(_ row: Row, _ entry: ContenderEntry) throws -> Outcome {
        let directory = try workshop.prepare(row.start, of: entry.name)
        let outcome = try ChildProcess.perform(
            Assignment(
                contender: entry.name, row: row, directory: directory, docs: options.docs,
                valueSize: options.valueSize, seed: options.seed, seconds: options.seconds,
                cacheSize: options.cacheMegabytes.map { $0 << 20 }, blobSize: options.blobMegabytes << 20,
                importFile: options.importFile, textFile: options.textFile))
        if let result = row.result, needed.contains(result) {
            try workshop.keep(directory, as: result, of: entry.name)
        }
        return outcome
    }

    private func report(_ round: Int, _ row: Row, _ entry: ContenderEntry, _ outcome: Outcome) {
        let figures = Metric.allCases.compactMap { metric in
            outcome.figures[metric.rawValue].map { "\(metric.rawValue) \(Figures.short($0))" }
        }
        let noise =
            outcome.isDisturbed ? " ~ others took \(Figures.short(outcome.disturbance)) of a core" : ""
        Console.note(
            "round \(round + 1)  \(entry.title): \(figures.joined(separator: ", "))\(noise)")
    }
}
