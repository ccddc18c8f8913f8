import Foundation
import RoostQuery

/// A line on standard error that grows while long work goes on; nothing where that is no terminal.
final class ProgressBar {
    private let title: String
    private let isShown: Bool
    private var lastShown = DispatchTime(uptimeNanoseconds: 0)
    private static let width = 30

    init(_ title: String) {
        self.title = title
        isShown = Console.isTerminal(STDERR_FILENO)
    }

    /// Shows how much is done, at most ten times a second. A `total` of 0 is unknown.
    func show(_ done: UInt64, of total: UInt64, _ detail: String = "") {
        guard isShown else { return }
        let now = DispatchTime.now()
        guard now.uptimeNanoseconds - lastShown.uptimeNanoseconds > 100_000_000 else { return }
        lastShown = now
        let part = total == 0 ? 0 : min(1, Double(done) / Double(total))
        let filled = Int(part * Double(ProgressBar.width))
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: ProgressBar.width - filled)
        let percent = total == 0 ? "" : " \(Int(part * 100))%"
        FileHandle.standardError.write(Data("\r\u{1B}[K\(title) [\(bar)]\(percent) \(detail)".utf8))
    }

    /// Removes the line.
    func finish() {
        guard isShown, lastShown.uptimeNanoseconds > 0 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
}

// MARK: - Count

/// Numbers of things as people say them.
enum Count {
    /// The number and the word that goes with it: `one` for 1, for any other `many`, which is `one` with an s if not given.
    static func text(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        "\(grouped(count)) \(count == 1 ? one : many ?? one + "s")"
    }

    /// The digits of a number, with commas between thousands.
    static func grouped(_ count: some BinaryInteger) -> String { Explanation.grouped(Int(clamping: count)) }
}

// MARK: - Size

/// Sizes as people read them.
enum Size {
    /// Three digits and a unit, in powers of 1024.
    static func text(_ bytes: UInt64) -> String {
        var value = Double(bytes)
        var units = ["bytes", "KiB", "MiB", "GiB", "TiB"][...]
        while value >= 1024, units.count > 1 {
            value /= 1024
            units = units.dropFirst()
        }
        guard let unit = units.first, unit != "bytes" else { return "\(bytes) bytes" }
        let digits = value >= 100 ? value.rounded() : (value * 10).rounded() / 10
        return "\(digits == digits.rounded() ? "\(Int(digits))" : "\(digits)") \(unit)"
    }
}
