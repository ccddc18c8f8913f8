import Foundation

/// One test vector: the lines `name = value` between two blank lines.
struct TestVector: Sendable, CustomStringConvertible {
    /// The last `[section]` before it.
    let section: String
    let lineNumber: Int
    private let values: [String: String]

    var description: String { "\(section), line \(lineNumber)" }

    /// The value as text; empty if there is none.
    func text(_ name: String) -> String { values[name] ?? "" }

    /// The value as bytes from hexadecimal digits.
    func bytes(_ name: String) -> [UInt8] { bytesFromHex(text(name)) }

    /// The value as a number, if there is one.
    func number(_ name: String) -> Int? { Int(text(name)) }

    /// All vectors of a section of `Vectors/<file>.txt`. Lines starting with `#` say where they are from.
    static func load(_ file: String, _ section: String) -> [TestVector] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let path = folder.appendingPathComponent("Vectors/\(file).txt").path
        guard let data = FileManager.default.contents(atPath: path) else { fatalError("no file \(path)") }
        var current = ""
        var values: [String: String] = [:]
        var vectors: [TestVector] = []
        let lines = String(decoding: data, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in (lines + [""]).enumerated() where !line.hasPrefix("#") {
            if line.hasPrefix("[") {
                current = String(line.dropFirst().dropLast())
            } else if let sign = line.firstIndex(of: "=") {
                let name = line[..<sign].trimmingCharacters(in: .whitespaces)
                values[name] = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            } else if !values.isEmpty {
                vectors.append(
                    TestVector(section: current, lineNumber: index - values.count + 1, values: values))
                values = [:]
            }
        }
        vectors.removeAll { $0.section != section }
        precondition(!vectors.isEmpty, "no section \(section) in \(path)")
        return vectors
    }
}

func bytesFromHex(_ text: String) -> [UInt8] {
    let digits = Array(text.utf8).map { UInt8(String(UnicodeScalar($0)), radix: 16)! }
    precondition(digits.count % 2 == 0)
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// The same random bytes on every run (SplitMix64, by S. Vigna, public domain).
struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
    }
}
