import Foundation

/// All samples of a run.
struct Results {
    let options: Options
    let contenders: [ContenderEntry]
    let machine: Machine
    private var samples: [String: [Metric: [Double]]] = [:]
    private var disturbed: Set<Cell> = []
    /// The first round's ``Outcome/progress``, by contender.
    private(set) var progress: [String: [Metric: [Double]]] = [:]
    /// The samples that could not be taken.
    var failures: [BenchmarkError] = []

    private struct Cell: Hashable {
        let contender: String
        let row: Row
    }

    init(options: Options, contenders: [ContenderEntry]) {
        self.options = options
        self.contenders = contenders
        machine = Machine(directory: options.directory)
    }

    mutating func add(_ outcome: Outcome, of entry: ContenderEntry) {
        for (name, parts) in outcome.progress {
            guard let metric = Metric(rawValue: name), progress[entry.name]?[metric] == nil else { continue }
            progress[entry.name, default: [:]][metric] = parts
        }
        for (name, value) in outcome.figures {
            guard let metric = Metric(rawValue: name) else { continue }
            samples[entry.name, default: [:]][metric, default: []].append(value)
            if outcome.isDisturbed { disturbed.insert(Cell(contender: entry.name, row: metric.row)) }
        }
    }

    func summary(_ metric: Metric, _ entry: ContenderEntry) -> Summary? {
        samples[entry.name]?[metric].map(Summary.init)
    }

    /// Whether a sample of this figure was disturbed by other programs to the end.
    func isDisturbed(_ metric: Metric, _ entry: ContenderEntry) -> Bool {
        disturbed.contains(Cell(contender: entry.name, row: metric.row))
    }

    /// The lines of the table: what at least one contender has a figure for.
    var metrics: [Metric] {
        Metric.allCases.filter { metric in contenders.contains { summary(metric, $0) != nil } }
    }

    /// The columns of the table: who has a figure.
    var measuredContenders: [ContenderEntry] { contenders.filter { samples[$0.name] != nil } }

    /// The median of the contender called `name`.
    func median(_ metric: Metric, of name: String) -> Double? {
        contenders.first { $0.name == name }.flatMap { summary(metric, $0)?.median }
    }

    /// The median of the plain raw limit: the first contender of that kind that has one.
    func raw(_ metric: Metric) -> Double? {
        contenders.lazy.filter { $0.kind == .raw }.compactMap { summary(metric, $0)?.median }.first
    }

    /// The best median among the peers that promise what is asked.
    func bestPeer(_ metric: Metric) -> Double? {
        let medians = contenders.filter { $0.kind == .peer }.compactMap { summary(metric, $0)?.median }
        return metric.isRate ? medians.max() : medians.min()
    }
}
