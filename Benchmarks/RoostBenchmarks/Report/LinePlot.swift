import Foundation

/// A plot of panels with a line for each contender, its name at the line's end.
struct LinePlot {
    struct Line {
        let entry: ContenderEntry
        let points: [(x: Double, y: Double)]
    }

    struct Panel {
        let title: String
        let lines: [Line]
    }

    let title: String
    let note: String
    /// Whether both axes count in powers of ten, as suits sizes; else they are even and begin at zero.
    let isLogarithmic: Bool
    let panels: [Panel]

    private static let columns = 2
    private static let width = 610.0
    private static let height = 260.0
    private static let left = 52.0
    private static let right = 130.0
    private static let top = 28.0
    private static let bottom = 26.0

    /// How the random load's speed develops as the store grows.
    static func randomLoad(_ results: Results) -> LinePlot? {
        let lines = results.contenders.compactMap { entry -> Line? in
            guard entry.kind != .raw, let rates = results.progress[entry.name]?[.randomLoad] else {
                return nil
            }
            let step = Double(results.options.docs) / Double(rates.count)
            return Line(
                entry: entry, points: rates.enumerated().map { (Double($0.offset + 1) * step, $0.element) })
        }
        guard !lines.isEmpty else { return nil }
        return LinePlot(
            title: "Loading in random order", note: "documents a second against documents stored so far",
            isLogarithmic: false, panels: [Panel(title: Metric.randomLoad.title, lines: lines)])
    }

    /// How figures of the steady state go up and down.
    static func steadyState(_ results: Results) -> LinePlot? {
        let metrics: [Metric] = [.steadyWrites, .steadyReads, .steadyCommit, .steadyRead, .steadySize]
        let panels = metrics.compactMap { metric -> Panel? in
            let lines = results.contenders.compactMap { entry -> Line? in
                guard let parts = results.progress[entry.name]?[metric] else { return nil }
                return Line(
                    entry: entry,
                    points: parts.enumerated().map {
                        (Double($0.offset + 1) * results.options.seconds, $0.element)
                    })
            }
            return lines.isEmpty ? nil : Panel(title: metric.title, lines: lines)
        }
        guard !panels.isEmpty else { return nil }
        return LinePlot(
            title: "Steady state", note: "in each part, against seconds", isLogarithmic: false, panels: panels
        )
    }

    /// How figures change with the number of documents; `nil` where there is one number alone.
    static func scaling(_ runs: [Results]) -> LinePlot? {
        guard runs.count > 1 else { return nil }
        let metrics = runs.first?.metrics.filter { !$0.isCount } ?? []
        let panels = metrics.map { metric in
            Panel(
                title: metric.title,
                lines: (runs.first?.contenders ?? []).map { entry in
                    Line(
                        entry: entry,
                        points: runs.compactMap { run in
                            run.summary(metric, entry).map { (Double(run.options.docs), $0.median) }
                        })
                }.filter { $0.points.count > 1 })
        }
        return LinePlot(
            title: "Scaling", note: "against the number of documents; both axes in powers of ten",
            isLogarithmic: true, panels: panels.filter { !$0.lines.isEmpty })
    }

    var svg: String {
        let columns = min(Self.columns, panels.count)
        let rows = (panels.count + columns - 1) / columns
        var canvas = SVGCanvas(
            width: Self.width * Double(columns), height: 44 + Self.height * Double(rows))
        canvas.text(title, x: 8, y: 20, style: "title")
        canvas.text(note, x: 8, y: 36, style: "quiet")
        for (index, panel) in panels.enumerated() {
            draw(
                panel, x: Double(index % columns) * Self.width,
                y: 44 + Double(index / columns) * Self.height, on: &canvas)
        }
        return canvas.svg
    }

    private func draw(_ panel: Panel, x: Double, y: Double, on canvas: inout SVGCanvas) {
        let points = panel.lines.flatMap(\.points)
        let (across, up) = (axis(points.map(\.x)), axis(points.map(\.y)))
        let plot = (
            left: x + Self.left, right: x + Self.width - Self.right, top: y + Self.top,
            bottom: y + Self.height - Self.bottom
        )
        func place(_ point: (x: Double, y: Double)) -> (x: Double, y: Double) {
            (
                plot.left + across.share(of: point.x) * (plot.right - plot.left),
                plot.bottom - up.share(of: point.y) * (plot.bottom - plot.top)
            )
        }
        canvas.text(panel.title, x: x + 8, y: y + 16, style: "panel")
        for tick in up.ticks {
            let height = place((across.low, tick)).y
            canvas.line([(plot.left, height), (plot.right, height)], style: "rule")
            canvas.text(Figures.short(tick), x: plot.left - 6, y: height + 4, anchor: .end, style: "value")
        }
        for tick in across.ticks {
            canvas.text(
                Figures.short(tick), x: place((tick, up.low)).x, y: plot.bottom + 16, anchor: .middle,
                style: "value")
        }
        var labels: [Double] = []
        for line in panel.lines.sorted(by: { ($0.points.last?.y ?? 0) > ($1.points.last?.y ?? 0) }) {
            guard let end = line.points.last.map(place) else { continue }
            canvas.line(
                line.points.map(place), style: line.entry.kind.rawValue, dash: dash(of: line, in: panel))
            // Names keep a line's distance from each other.
            let height = max(end.y + 4, (labels.last ?? -.infinity) + 12)
            labels.append(height)
            canvas.text(line.entry.title, x: end.x + 6, y: height, style: "value")
        }
    }

    /// Peers share a colour, so their lines differ in their dashes.
    private func dash(of line: Line, in panel: Panel) -> String? {
        let alike = panel.lines.filter { $0.entry.kind == line.entry.kind }
        let dashes = [nil, "6 3", "2 3", "8 3 2 3"]
        return dashes[(alike.firstIndex { $0.entry.name == line.entry.name } ?? 0) % dashes.count]
    }

    private func axis(_ values: [Double]) -> Axis {
        let (low, high) = (values.min() ?? 1, values.max() ?? 1)
        return isLogarithmic ? .powers(low, high) : .even(high)
    }
}

/// One axis: which part of it a value lies at, and where it is labelled.
private struct Axis {
    let low: Double
    let high: Double
    let ticks: [Double]
    let isLogarithmic: Bool

    static func even(_ high: Double) -> Axis {
        let step = pow(10, floor(log10(max(high, 1e-9))))
        let wide = high / step < 3 ? step / 2 : step
        let count = Int((high / wide).rounded(.up))
        return Axis(
            low: 0, high: Double(count) * wide, ticks: (0...count).map { Double($0) * wide },
            isLogarithmic: false)
    }

    static func powers(_ low: Double, _ high: Double) -> Axis {
        let first = Int(floor(log10(max(low, 1e-9)) + 1e-9))
        let last = max(Int(ceil(log10(max(high, 1e-9)) - 1e-9)), first + 1)
        return Axis(
            low: pow(10, Double(first)), high: pow(10, Double(last)),
            ticks: (first...last).map { pow(10, Double($0)) }, isLogarithmic: true)
    }

    func share(of value: Double) -> Double {
        isLogarithmic
            ? (log10(max(value, low)) - log10(low)) / (log10(high) - log10(low))
            : (value - low) / (high - low)
    }
}
