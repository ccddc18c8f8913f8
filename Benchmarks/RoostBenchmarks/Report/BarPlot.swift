/// A plot of several panels, one for each line of the table, with a bar for each contender.
struct BarPlot {
    private let title: String
    private let note: String
    private let metrics: [Metric]
    private let contenders: [ContenderEntry]
    private let results: Results

    private static let columns = 3
    private static let panelWidth = 410.0
    private static let labelWidth = 150.0
    private static let valueWidth = 50.0
    private static let barHeight = 12.0
    private static let barStep = 17.0

    /// Six rows for who wants to know where Roost stands: its documents and its store first, then the others.
    static func overview(_ results: Results) -> BarPlot {
        let shown: [Metric] = [
            .orderedLoad, .randomLoad, .updates, .singleCommits, .randomReads, .scanByID,
        ]
        let own = ["roost-documents", "roost"].compactMap { name in
            results.contenders.first { $0.name == name }
        }
        return BarPlot(
            title: "Documents, and the store below them, beside others",
            note: "per second, longer is better; each panel has its own scale", metrics: shown,
            contenders: own + results.contenders.filter { $0.kind == .peer || $0.name == "raw" },
            results: results)
    }

    /// What each row gets through, the longest bar of each panel being the fastest.
    static func throughput(_ results: Results) -> BarPlot {
        BarPlot(
            title: "Throughput", note: "per second, longer is better; each panel has its own scale",
            metrics: results.metrics.filter { $0.isRate && !$0.rawValue.hasSuffix(".settled") },
            contenders: results.contenders, results: results)
    }

    /// Bytes written per byte of document.
    static func writeAmplification(_ results: Results) -> BarPlot {
        let shown: [Metric] = [
            .orderedLoadWritten, .randomLoadWritten, .updatesWritten, .compactionWritten, .fileSize,
        ]
        return BarPlot(
            title: "Bytes written", note: "per byte of document, shorter is better",
            metrics: results.metrics.filter(shown.contains), contenders: results.contenders, results: results)
    }

    var svg: String {
        let heights = rows.map { row in row.map(height).max() ?? 0 }
        var canvas = SVGCanvas(
            width: Self.panelWidth * Double(Self.columns), height: 44 + heights.reduce(0, +))
        canvas.text(title, x: 8, y: 20, style: "title")
        canvas.text(note, x: 8, y: 36, style: "quiet")
        var top = 44.0
        for (row, height) in zip(rows, heights) {
            for (column, metric) in row.enumerated() {
                draw(metric, x: Double(column) * Self.panelWidth + 8, y: top, on: &canvas)
            }
            top += height
        }
        return canvas.svg
    }

    private var rows: [[Metric]] {
        stride(from: 0, to: metrics.count, by: Self.columns).map {
            Array(metrics[$0..<min($0 + Self.columns, metrics.count)])
        }
    }

    private func bars(_ metric: Metric) -> [(entry: ContenderEntry, value: Double)] {
        contenders.compactMap { entry in
            results.summary(metric, entry).map { (entry, $0.median) }
        }
    }

    private func height(_ metric: Metric) -> Double {
        Double(bars(metric).count) * Self.barStep + 38
    }

    private func draw(_ metric: Metric, x: Double, y: Double, on canvas: inout SVGCanvas) {
        let bars = bars(metric)
        let longest = Self.panelWidth - Self.labelWidth - Self.valueWidth - 16
        let scale = longest / max(bars.map(\.value).max() ?? 1, .leastNormalMagnitude)
        canvas.text(metric.title, x: x, y: y + 18, style: "panel")
        for (index, bar) in bars.enumerated() {
            let top = y + 26 + Double(index) * Self.barStep
            let baseline = top + Self.barHeight - 2
            canvas.text(
                bar.entry.title, x: x + Self.labelWidth - 6, y: baseline, anchor: .end, style: "quiet")
            canvas.bar(
                x: x + Self.labelWidth, y: top, width: max(1, bar.value * scale), height: Self.barHeight,
                style: bar.entry.kind.rawValue)
            canvas.text(
                Figures.short(bar.value), x: x + Self.labelWidth + bar.value * scale + 5, y: baseline,
                style: "value")
        }
    }
}
