import RoostStorage

/// What a check of a database found, and how much it looked at.
public struct DatabaseCheckReport: Sendable {
    /// The file that holds the documents, byte by byte.
    public internal(set) var file: CheckReport
    /// The blobs.
    public internal(set) var blobs = BlobCheckReport()
    /// Documents that were looked at, deleted ones among them.
    public internal(set) var documents: UInt64 = 0
    /// What is wrong with documents, in the order of finding; at most `maximumFindings`.
    public internal(set) var findings: [DocumentFinding] = []
    /// Findings beyond the maximum.
    public internal(set) var furtherFindings = 0

    init(file: CheckReport) { self.file = file }

    /// Whether nothing is wrong, apart from what a crash leaves behind.
    public var isClean: Bool { file.isClean && blobs.isClean && findings.isEmpty }

    /// Whether everything that the newest commit holds can be read and relied on: at worst older commits, spare copies
    /// or blobs that no document refers to are damaged.
    public var isSound: Bool { file.isSound && findings.isEmpty }
}
