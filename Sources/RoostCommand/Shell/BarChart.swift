import Fleece
import RoostQuery

/// The numbers of a result as bars: the first column that has numbers, beside the other columns. Where there are many rows, how many of
/// their numbers are in each of some ranges.
struct BarChart {
    private let names: [String]
    /// How many columns of characters there are.
    private let room: Int
    private var labels: [[String]] = []
    private var values: [[Double?]] = []
    /// How many rows came after those that are counted.
    private var omitted = 0

    /// So many rows have a bar each.
    static let mostBars = 60
    /// Of so many rows the numbers are counted; more are left out, and it says so.
    private static let mostRows = 1_000_000
    private static let ranges = 20

    init(_ names: [String], room: Int) {
        self.names = names
        self.room = room
    }

    mutating func add(_ row: ResultRow) {
        guard values.count < Self.mostRows else { return omitted += 1 }
        values.append((0..<row.count).map { row[$0].double })
        if labels.count <= Self.mostBars {
            labels.append((0..<row.count).map { row[$0].exists ? row[$0].string ?? row[$0].json() : "" })
        }
    }

    /// The lines of the chart.
    func lines() -> [String] {
        let column = names.indices.first { column in values.contains { $0[column] != nil } }
        guard let column else { return ["(no numbers)"] }
        guard values.count > Self.mostBars else {
            let texts = labels.map { row in
                row.indices.filter { $0 != column }.map { row[$0] }.joined(separator: " ")
            }
            return bars(zip(texts, values.map { $0[column] }).map { ($0, $1, nil) })
        }
        return ["How many of \(values.count) rows have \(names[column]) in each range:"]
            + histogram(values.compactMap { $0[column] })
            + (omitted > 0 ? ["\(Count.text(omitted, "row")) more were left out."] : [])
    }

    private func histogram(_ numbers: [Double]) -> [String] {
        guard let least = numbers.min(), let greatest = numbers.max() else { return [] }
        guard greatest > least else { return bars([(Self.text(least), Double(numbers.count), nil)]) }
        let width = (greatest - least) / Double(Self.ranges)
        guard width.isFinite, width > 0 else { return ["(the numbers are too far apart)"] }
        var counts = [Int](repeating: 0, count: Self.ranges)
        for number in numbers { counts[min(Self.ranges - 1, Int((number - least) / width))] += 1 }
        return bars(
            counts.enumerated().map { place, count in
                let start = Self.text(least + Double(place) * width)
                let end =
                    place == Self.ranges - 1
                    ? Self.text(greatest) : Self.text(least + Double(place + 1) * width)
                return ("\(start) to \(end)", Double(count), "\(count)")
            })
    }

    private func bars(_ rows: [(label: String, value: Double?, text: String?)]) -> [String] {
        let labels = rows.map { TextTable.cut(TextTable.text($0.label), to: max(8, room / 3)) }
        let texts = rows.map { row in row.text ?? row.value.map(Self.text) ?? "" }
        let labelWidth = labels.map(TextTable.width).max() ?? 0
        let textWidth = texts.map(TextTable.width).max() ?? 0
        let barWidth = max(8, room - labelWidth - textWidth - 4)
        let least = min(0, rows.compactMap(\.value).min() ?? 0)
        let greatest = max(0, rows.compactMap(\.value).max() ?? 0)
        let scale = Double(barWidth) / max(greatest - least, .leastNonzeroMagnitude)
        let zero = Int((-least * scale).rounded())
        return rows.indices.map { index in
            let label =
                labels[index] + String(repeating: " ", count: labelWidth - TextTable.width(of: labels[index]))
            let text =
                String(repeating: " ", count: textWidth - TextTable.width(of: texts[index])) + texts[index]
            let length = (rows[index].value ?? 0) * scale
            let bar =
                length < 0
                ? String(repeating: " ", count: max(0, zero - Int((-length).rounded())))
                    + String(repeating: "▒", count: Int((-length).rounded()))
                : String(repeating: " ", count: zero) + Self.bar(length)
            return "\(label)  \(text)  \(bar)"
        }
    }

    /// A bar of a number of characters and eighths of one.
    private static func bar(_ length: Double) -> String {
        let eighths = Int((length * 8).rounded())
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        return String(repeating: "█", count: eighths / 8) + part
    }

    private static func text(_ number: Double) -> String {
        if let whole = Int64(exactly: number) { return "\(whole)" }
        let rounded = (number * 1000).rounded() / 1000
        return rounded == 0 || !rounded.isFinite ? "\(number)" : "\(rounded)"
    }
}
