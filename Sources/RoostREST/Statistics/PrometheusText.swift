/// Figures in the text format of Prometheus, version 0.0.4.
struct PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String {
        case counter, gauge, histogram
    }

    private(set) var text = ""

    /// Begins a family of figures. Those that follow are of it.
    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// A figure on its own.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: String) {
        begin(name, kind, help)
        text += "\(name) \(value)\n"
    }

    /// A figure for each value of a label.
    mutating func add(
        _ name: String, _ kind: Kind, _ help: String, label: String,
        _ values: [(label: String, value: String)]
    ) {
        begin(name, kind, help)
        for value in values {
            text += "\(name){\(label)=\"\(Self.escaped(value.label, quotes: true))\"} \(value.value)\n"
        }
    }

    /// A histogram; each bucket counts those of the buckets before it, too.
    mutating func add(_ name: String, _ help: String, _ histogram: DurationHistogram.Snapshot) {
        begin(name, .histogram, help)
        var count: UInt64 = 0
        let bounds = DurationHistogram.bounds.map { "\($0)" } + ["+Inf"]
        for (bound, more) in zip(bounds, histogram.counts) {
            count += more
            text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n"
        }
        text += "\(name)_sum \(histogram.sum)\n\(name)_count \(count)\n"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        let lines = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? lines.replacing("\"", with: "\\\"") : lines
    }
}
