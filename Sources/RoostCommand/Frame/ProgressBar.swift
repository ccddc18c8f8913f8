import Foundation

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

    /// Shows how much is done, at most ten times a second. `total` of 0 means that nobody knows.
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
