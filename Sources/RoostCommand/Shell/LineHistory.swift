import Foundation

/// The statements that were entered, the oldest first; each may be of several lines.
final class LineHistory {
    private(set) var entries: [String] = []
    private let path: String?
    private static let most = 1_000
    /// What stands in the file for the end of a line within an entry, as in that of psql.
    private static let innerLineEnd = "\u{1}"

    /// - Parameter path: the file that keeps them; `nil` for none.
    init(path: String?) {
        self.path = path
        guard let path, let bytes = try? InputFile(path).readAll(limit: 1 << 26) else { return }
        let all = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        entries = all.suffix(Self.most).map {
            $0.split(separator: Self.innerLineEnd, omittingEmptySubsequences: false).joined(separator: "\n")
        }
        // Others append, too, so it is cut now and then only.
        if all.count > 2 * Self.most { write(entries, O_TRUNC) }
    }

    /// In the file that ROOST_HISTORY names, nowhere if it names none, else in the user's directory.
    static func ofUser() -> LineHistory {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["ROOST_HISTORY"] { return LineHistory(path: path.isEmpty ? nil : path) }
        return LineHistory(path: environment["HOME"].map { "\($0)/.roost_history" })
    }

    /// Adds an entry, unless it is that of before or begins with a space, here and at the end of the file: shells that run at the
    /// same time keep the entries of each other.
    func add(_ entry: String) {
        guard !entry.isEmpty, entry.first != " ", entry != entries.last else { return }
        entries.append(entry)
        if entries.count > Self.most { entries.removeFirst() }
        write([entry], O_APPEND)
    }

    /// The place of the newest entry before `end` that has `text` in it.
    func place(of text: String, before end: Int) -> Int? {
        entries[..<end].lastIndex { $0.contains(text) }
    }

    /// Writes to the file, which only its owner can read. A history that can't be written is forgotten.
    private func write(_ entries: [String], _ flag: Int32) {
        guard let path else { return }
        let text = entries.map { entry in
            entry.split(separator: "\n", omittingEmptySubsequences: false).joined(
                separator: Self.innerLineEnd) + "\n"
        }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flag, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try? OutputFile.write(Array(text.joined().utf8)[...], to: descriptor)
    }
}
