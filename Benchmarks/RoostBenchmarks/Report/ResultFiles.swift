import Foundation

/// The files that a run leaves, named after its documents so that runs of several sizes can lie side by side.
enum ResultFiles {
    static func write(_ results: Results, to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let cache = results.options.cacheMegabytes.map { "-\($0)MiB" } ?? ""
        let name = "\(directory)/\(results.options.docs)x\(results.options.valueSize)\(cache)"
        try write(MarkdownReport(results).text + "\n", to: name + ".md")
        try results.json().write(to: URL(fileURLWithPath: name + ".json"))
        try write(BarPlot.overview(results).svg, to: name + "-overview.svg")
        try write(BarPlot.throughput(results).svg, to: name + "-throughput.svg")
        try write(BarPlot.writeAmplification(results).svg, to: name + "-writes.svg")
        if let plot = LinePlot.steadyState(results) { try write(plot.svg, to: name + "-steady.svg") }
        if let plot = LinePlot.randomLoad(results) { try write(plot.svg, to: name + "-random-load.svg") }
    }

    /// The runs of ``ScalingRun``, of growing size.
    static func write(scaling runs: [Results], to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for run in runs {
            let file = "\(directory)/scaling-\(run.options.docs).json"
            try run.json().write(to: URL(fileURLWithPath: file))
        }
        if let plot = LinePlot.scaling(runs) { try write(plot.svg, to: directory + "/scaling.svg") }
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}
