import Foundation

/// Files of /proc, whose length is not known before they have been read to their end.
enum ProcFile {
    /// The text of `/proc/<name>`; empty if there is none.
    static func text(_ name: String) -> String {
        guard let file = FileHandle(forReadingAtPath: "/proc/" + name) else { return "" }
        return String(decoding: file.readDataToEndOfFile(), as: UTF8.self)
    }

    /// The first number in the line of `/proc/<name>` that starts with `label`; 0 if there is none.
    static func number(_ name: String, _ label: String) -> Double {
        let line = text(name).split(separator: "\n").first { $0.hasPrefix(label) } ?? ""
        return line.split(separator: " ").compactMap { Double($0) }.first ?? 0
    }
}
