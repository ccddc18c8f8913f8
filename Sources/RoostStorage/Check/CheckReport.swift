/// What an integrity check found and how much it looked at.
public struct CheckReport: Sendable {
    /// What is wrong, in the order of finding; at most ``CheckOptions/maximumFindings``.
    public internal(set) var findings: [CheckFinding] = []
    /// Findings beyond the maximum.
    public internal(set) var furtherFindings = 0
    /// Commits whose records and contents were verified.
    public internal(set) var commits = 0
    /// Trees of the newest commit.
    public internal(set) var trees = 0
    /// Entries of these trees.
    public internal(set) var entries: UInt64 = 0
    /// Tree nodes that were read.
    public internal(set) var nodes = 0
    /// Values outside the trees' nodes that were read.
    public internal(set) var values = 0
    /// The number of the commit that was checked; 0 when there is none that can be read.
    public internal(set) var commit: UInt64 = 0

    /// Whether nothing is wrong, apart from what a crash leaves behind.
    public var isClean: Bool { furtherFindings == 0 && !findings.contains { $0.severity > .notice } }

    /// Whether everything that the newest commit holds can be read and relied on.
    public var isSound: Bool { !findings.contains { $0.severity == .error } }
}

/// What an integrity check looks at, and what it may use.
public struct CheckOptions: Sendable {
    /// Verifies every byte of every commit back to the file's first; otherwise only those that opening needs.
    /// Default: true.
    public var includesHistory = true
    /// Reads all values; otherwise only the trees' nodes. Default: true.
    public var includesValues = true
    /// Findings to report; more are counted. Default: 1000.
    public var maximumFindings = 1000
    /// Bytes of memory for the proof that no two chunks overlap: 16 for each value and node that can't be joined
    /// with its neighbours. Where that is not enough the trees are walked several times. Default: 64 MiB.
    public var memoryLimit = 64 << 20

    /// The defaults.
    public init() {}
}
