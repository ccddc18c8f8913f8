import Foundation
import RoostQuery

/// A file of settings, one a line: `NAME = VALUE`, with the names of a command's options without their dashes. Lines that begin with `#` or
/// `;` are comments. A flag takes `yes` or `no`.
struct ConfigurationFile {
    /// The value of an option, or of what else the file may set, by name.
    private(set) var values: [String: String] = [:]
    /// The flags that are set.
    private(set) var flags: Set<String> = []

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the file; a path in it that is not absolute is taken from its directory.
    ///   - options: what it may set.
    /// - Throws: ``CommandFailure`` with the line that is wrong: a name that nothing has, or that is given twice, or a value that is missing.
    init(_ path: String, _ options: [Option]) throws {
        let known = Dictionary(uniqueKeysWithValues: options.map { ($0.setting, $0) })
        var seen: Set<String> = []
        let text = String(decoding: try InputFile(path).readAll(limit: 1 << 20), as: UTF8.self)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            guard let first = line.first, first != "#", first != ";" else { continue }
            func wrong(_ reason: String) -> CommandFailure {
                CommandFailure("\(path):\(index + 1): \(reason)")
            }
            guard let sign = line.firstIndex(of: "=") else { throw wrong("A line is NAME = VALUE.") }
            let name = line[..<sign].trimmingCharacters(in: .whitespaces)
            let value = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            guard let option = known[name] else {
                let near = Suggestion.text(for: name, among: known.keys)
                throw wrong("There is no setting \"\(name)\"\(near.isEmpty ? "." : near)")
            }
            guard seen.insert(name).inserted else { throw wrong("\(name) is set twice.") }
            guard !value.isEmpty else { throw wrong("\(name) has no value.") }
            if option.value == nil {
                switch value {
                case "yes", "true", "on": flags.insert(option.name)
                case "no", "false", "off": break
                default: throw wrong("\(name) is yes or no.")
                }
            } else {
                values[option.name] = option.isPath ? Self.absolute(value, beside: path) : value
            }
        }
    }

    private static func absolute(_ value: String, beside path: String) -> String {
        guard !value.hasPrefix("/"), value != "-" else { return value }
        return URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(value).path
    }
}

extension Option {
    /// What the option is called in a file of settings.
    fileprivate var setting: String { String(name.drop { $0 == "-" }) }

    /// Whether its value is the path of a file or a directory.
    fileprivate var isPath: Bool { value == "FILE" || value == "DIR" }
}

extension Invocation {
    /// The invocation with the settings of a file for what is not said in it.
    func completed(by file: ConfigurationFile) -> Self {
        var copy = self
        copy.complete(file.values, file.flags)
        return copy
    }
}
