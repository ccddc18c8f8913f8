import Foundation

/// The files of a run, named after its documents so that runs of several sizes can lie side by side.
struct ResultFiles {
    private let results: Results

    init(_ results: Results) {
        self.results = results
    }

    func write(to directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let name = "\(directory)/\(results.options.docs)x\(results.options.valueSize)"
        try write(MarkdownReport(results).text + "\n", to: name + ".md")
        try results.json().write(to: URL(fileURLWithPath: name + ".json"))
        try write(BarPlot.throughput(results).svg, to: name + "-throughput.svg")
        try write(BarPlot.writeAmplification(results).svg, to: name + "-writes.svg")
        if let plot = LinePlot.randomLoad(results) { try write(plot.svg, to: name + "-random-load.svg") }
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
}
