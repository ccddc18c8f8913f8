/// One thing that is wrong with a store's file.
public struct CheckFinding: Hashable, Sendable, CustomStringConvertible {
    /// What a finding means for the data.
    public enum Severity: Int, Comparable, Sendable {
        /// As a crash leaves it, or another process that is writing just now; opening for writing mends it.
        case notice
        /// Older commits, spare copies or statistics are damaged; what the newest commit holds is not.
        case warning
        /// Something that the newest commit holds can't be read, or can't be relied on.
        case error

        /// Order by how bad it is.
        public static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
    }

    /// Where in the file, in bytes from its start.
    public let offset: UInt64
    /// What is wrong, as part of a sentence. It never holds keys or values.
    public let what: String
    /// The tree that is affected, where that is known.
    public let tree: String?
    /// What it means for the data.
    public let severity: Severity

    /// The finding in a line.
    public var description: String {
        "\(severity): \(what) at offset \(offset)" + (tree.map { " (tree \"\($0)\")" } ?? "")
    }
}
