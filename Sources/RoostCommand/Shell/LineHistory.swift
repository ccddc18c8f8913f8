import Foundation

/// The lines that were entered, the oldest first.
final class LineHistory {
    private(set) var lines: [String] = []
    private let path: String?
    private static let most = 1_000

    /// - Parameter path: the file that keeps them; `nil` for none.
    init(path: String?) {
        self.path = path
        guard let path, let bytes = try? InputFile(path).readAll(limit: 1 << 20) else { return }
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").suffix(Self.most).map(
            String.init)
    }

    /// In the file that ROOST_HISTORY names, nowhere if it names none, else in the user's directory.
    static func ofUser() -> LineHistory {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["ROOST_HISTORY"] { return LineHistory(path: path.isEmpty ? nil : path) }
        return LineHistory(path: environment["HOME"].map { "\($0)/.roost_history" })
    }

    /// Adds a line, unless it is that of before or begins with a space.
    func add(_ line: String) {
        guard !line.isEmpty, line.first != " ", line != lines.last else { return }
        lines.append(line)
        if lines.count > Self.most { lines.removeFirst() }
    }

    /// Writes the file, which only its owner can read. A history that can't be written is forgotten.
    func save() {
        guard let path else { return }
        let text = lines.map { $0 + "\n" }.joined()
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try? OutputFile.write(Array(text.utf8)[...], to: descriptor)
    }
}
