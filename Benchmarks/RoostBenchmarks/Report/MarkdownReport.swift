/// The results as a table for people.
struct MarkdownReport {
    private let results: Results

    init(_ results: Results) {
        self.results = results
    }

    var text: String {
        [heading, table, legend, configurations].joined(separator: "\n\n")
    }

    private var heading: String {
        let options = results.options
        let machine = results.machine
        let warning =
            machine.isDurable ? "" : " Commits cost nothing on \(machine.fileSystem): not a fair run."
        let caches = options.cacheMegabytes.map { " Caches of \($0) MiB." } ?? ""
        return """
            \(Figures.short(Double(options.docs))) documents of a 16-byte ID and \(options.valueSize) random \
            bytes, seed \(options.seed). \(machine.processor), \(machine.cores) cores, \
            \(machine.memoryGigabytes) GB, \(machine.kernel), \(machine.fileSystem).\(caches)\(warning)
            """
    }

    private var table: String {
        let titles = results.measuredContenders.map(\.title)
        let head = "| | " + titles.joined(separator: " | ") + " |"
        let rule = "|---|" + String(repeating: "---:|", count: titles.count)
        return ([head, rule] + results.metrics.map(line)).joined(separator: "\n")
    }

    private func line(_ metric: Metric) -> String {
        let cells = results.measuredContenders.map { cell(metric, $0) }
        return "| \(metric.title) | " + cells.joined(separator: " | ") + " |"
    }

    private func cell(_ metric: Metric, _ entry: ContenderEntry) -> String {
        guard let summary = results.summary(metric, entry) else { return "" }
        var text = Figures.short(summary.median)
        if entry.kind == .peer, !metric.isCount, summary.median == results.bestPeer(metric) {
            text = "**\(text)**"
        }
        if metric.isRate, entry.kind != .raw, let raw = results.raw(metric), raw > 0 {
            text += " (\(Figures.ratio(summary.median / raw)))"
        }
        if entry.kind == .roost, let peer = results.bestPeer(metric), !metric.isCount, peer > 0 {
            text += " \(Figures.ratio(summary.median / peer))x"
        }
        if metric.isRate, let name = entry.original, let plain = results.median(metric, of: name), plain > 0 {
            text += " [\(Figures.ratio(summary.median / plain))]"
        }
        if summary.spread > 0.1 { text += " ±\(Int((summary.spread * 50).rounded()))%" }
        return results.isDisturbed(metric, entry) ? text + " ~" : text
    }

    private var legend: String {
        """
        Medians of up to \(sampleCount) samples, taken in turn; ± half the spread where it is above 5%; in brackets the \
        ratio to the raw limit; bold the best peer; for Roost the ratio to the best peer, and in square brackets that of a variant to plain Roost; ~ disturbed by other \
        programs. Bytes and syncs are those of the program's own system calls.
        """
    }

    private var sampleCount: Int {
        results.metrics.flatMap { metric in
            results.measuredContenders.compactMap { results.summary(metric, $0)?.samples.count }
        }.max() ?? 0
    }

    private var configurations: String {
        results.measuredContenders.map { "- \($0.title): \($0.configuration)." }.joined(separator: "\n")
    }
}
