import Foundation

extension Results {
    /// Every sample, with what is needed to judge it.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let document = JSONDocument(
            machine: machine, docs: options.docs, valueSize: options.valueSize, seed: options.seed,
            seconds: options.seconds,
            contenders: contenders.map {
                JSONDocument.Contender(
                    name: $0.name, title: $0.title, kind: $0.kind, configuration: $0.configuration)
            },
            figures: metrics.map(line),
            progress: progress.mapValues { parts in
                Dictionary(uniqueKeysWithValues: parts.map { ($0.key.rawValue, $0.value) })
            })
        return try encoder.encode(document) + Data("\n".utf8)
    }

    private func line(_ metric: Metric) -> JSONDocument.Line {
        let cells = contenders.compactMap { entry in
            summary(metric, entry).map { summary in
                JSONDocument.Cell(
                    contender: entry.name, median: summary.median, spread: summary.spread,
                    samples: summary.samples, isDisturbed: isDisturbed(metric, entry))
            }
        }
        return JSONDocument.Line(
            metric: metric.rawValue, title: metric.title, raw: raw(metric), bestPeer: bestPeer(metric),
            cells: cells)
    }
}

/// The shape of the JSON file.
private struct JSONDocument: Encodable {
    struct Contender: Encodable {
        let name: String
        let title: String
        let kind: ContenderEntry.Kind
        let configuration: String
    }

    struct Line: Encodable {
        let metric: String
        let title: String
        let raw: Double?
        let bestPeer: Double?
        let cells: [Cell]
    }

    struct Cell: Encodable {
        let contender: String
        let median: Double
        let spread: Double
        let samples: [Double]
        let isDisturbed: Bool
    }

    let machine: Machine
    let docs: Int
    let valueSize: Int
    let seed: UInt64
    let seconds: Double
    let contenders: [Contender]
    let figures: [Line]
    /// Figures in each equal part of the long rows, by contender and metric.
    let progress: [String: [String: [Double]]]
}
