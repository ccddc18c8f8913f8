import RoostStorage

/// What a salvage rescued, and what was lost, by document.
public struct DatabaseSalvageReport: Sendable {
    /// Documents in the new database, deleted ones among them.
    public internal(set) var documents: UInt64 = 0
    /// Collections in the new database.
    public internal(set) var collections = 0
    /// What was lost or is older than it was, in the order of finding; at most ``maximumFindings``.
    public internal(set) var findings: [DocumentFinding] = []
    /// Findings beyond the maximum.
    public internal(set) var furtherFindings = 0
    /// What was found in the damaged file, by trees and places.
    public internal(set) var file: SalvageReport

    /// Findings that are listed one by one.
    public static let maximumFindings = 1000

    init(file: SalvageReport) { self.file = file }

    /// Whether nothing was lost: the new database holds what the newest commit held.
    public var isComplete: Bool { file.isComplete && findings.isEmpty }
}
