import RoostBlobs
import RoostStorage

extension Database {
    /// Reads every blob and compares it with its digest, and looks for the blobs that documents refer to.
    ///
    /// - Parameter progress: called after each blob with the number done and that of all; returns `false` to stop.
    /// - Returns: what was found; damage does not throw.
    /// - Throws: `closed`, `cancelled`, `inputOutput`.
    public func verifyBlobs(
        _ progress: (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
    ) throws(DatabaseError) -> BlobCheckReport {
        try checkOpen()
        var report = try blobReport(progress)
        let check = try checkDocuments(blobs: report, CheckOptions(), CheckMeter(nil))
        report.documents = check.findings.findings.filter { $0.blob != nil }
        return report
    }

    /// What is to be said of the blobs' files alone.
    func blobReport(_ progress: (_ done: Int, _ total: Int) -> Bool) throws(DatabaseError) -> BlobCheckReport
    {
        let found = try translating { () throws(BlobError) in try core.vault.blobs.verify(progress) }
        return BlobCheckReport(
            count: found.count, bytes: found.bytes,
            damaged: found.damaged.map { BlobCheckReport.Damage(file: $0.name, reason: $0.reason) })
    }
}

/// What a verification of all blobs found.
public struct BlobCheckReport: Hashable, Sendable {
    /// A file that is not what was written.
    public struct Damage: Hashable, Sendable {
        /// The file's name in the database's directory `blobs`.
        public let file: String
        /// What is wrong, as a sentence.
        public let reason: String
    }

    /// How many blobs were read.
    public let count: Int
    /// The content in those that are whole, in bytes.
    public let bytes: UInt64
    /// The files that are damaged.
    public let damaged: [Damage]
    /// The documents that refer to blobs which are missing or damaged.
    public internal(set) var documents: [DocumentFinding] = []

    init(count: Int = 0, bytes: UInt64 = 0, damaged: [Damage] = []) {
        self.count = count
        self.bytes = bytes
        self.damaged = damaged
    }

    /// Whether nothing is damaged or missing.
    public var isClean: Bool { damaged.isEmpty && documents.isEmpty }
}
