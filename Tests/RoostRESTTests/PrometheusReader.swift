import Foundation

/// Reads the text format of Prometheus, version 0.0.4, and refuses what is not quite that.
struct PrometheusReader {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// The type of each family.
    private(set) var types: [String: String] = [:]
    /// The figures by their names and labels, as written.
    private(set) var values: [String: Double] = [:]
    /// The figures in the order in which they stand.
    private(set) var order: [String] = []

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Problem(description: "The last line doesn't end.") }
        var helped: Set<String> = []
        var family = ""
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\]|\\\\|\\n)+)/) {
                guard helped.insert(String(match.1)).inserted else {
                    throw Problem(description: "HELP twice: \(line)")
                }
                family = String(match.1)
            } else if let match = line.wholeMatch(
                of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)/)
            {
                guard match.1 == family, types[family] == nil else {
                    throw Problem(description: "TYPE out of place: \(line)")
                }
                types[family] = String(match.2)
            } else {
                try readFigure(line, of: family)
            }
        }
    }

    private mutating func readFigure(_ line: Substring, of family: String) throws {
        let pattern =
            /([a-zA-Z_:][a-zA-Z0-9_:]*)((?:\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\\\|\\"|\\n)*"\})?) ([0-9.e+-]+)/
        guard let match = line.wholeMatch(of: pattern), let value = Double(match.3) else {
            throw Problem(description: "No figure: \(line)")
        }
        let suffixes = types[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { match.1 == family + $0 }) else {
            throw Problem(description: "\(match.1) is not of \(family).")
        }
        let name = "\(match.1)\(match.2)"
        guard values.updateValue(value, forKey: name) == nil else {
            throw Problem(description: "Twice: \(line)")
        }
        order.append(name)
    }
}
