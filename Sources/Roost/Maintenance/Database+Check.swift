import Fleece
import RoostBlobs
import RoostBytes
import RoostFile
import RoostStorage

extension Database {
    /// Verifies every byte of the documents' file and of the blobs, and that all that is said of documents agrees: that
    /// each stands in the order of IDs and in that of changes with the same revision and body, that its other leaves, its
    /// expiration and its blobs are there, and that the collection counts right.
    ///
    /// Reads the file, and once more what is alive in it. Others may read and write meanwhile.
    ///
    /// - Parameters:
    ///   - options: what to look at. Without values, neither bodies nor blobs are read.
    ///   - progress: called on this thread; returns `false` to stop.
    /// - Returns: what was found; damage does not throw.
    /// - Throws: `inputOutput`, `cancelled`, `closed`.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> DatabaseCheckReport {
        try checkOpen()
        let file = try translating { () throws(StoreError) in
            try core.store.check(options, progress: progress)
        }
        var report = DatabaseCheckReport(file: file)
        try check(options, progress, into: &report)
        return report
    }

    /// As ``check(_:progress:)-(_,ProgressHandler?)``, for a database that need not be open: takes no lock and writes nothing.
    ///
    /// - Throws: `notFound`, `notADatabase`, `wrongKey`, `inputOutput`, `cancelled`.
    public static func check(
        _ path: String, key: EncryptionKey? = nil, _ options: CheckOptions = CheckOptions(),
        progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> DatabaseCheckReport {
        var opening = DatabaseOptions(isReadOnly: true, createsIfMissing: false)
        opening.key = key
        let store = opening.store
        try DatabaseOpener.requireDocuments(at: path, Environment.system.medium)
        let file = try translating { () throws(StoreError) in
            try Store.check(
                DatabaseOpener.dataPath(path), options: store, checking: options, progress: progress)
        }
        var report = DatabaseCheckReport(file: file)
        do throws(DatabaseError) {
            let database = try open(path, options: opening)
            try database.check(options, progress, into: &report)
            try database.close()
        } catch {
            guard [.damaged, .notADatabase].contains(error.code) else { throw error }
            report.findings.append(DocumentFinding("the documents can't be looked at. \(error.message)"))
        }
        return report
    }

    /// Checks blobs and documents.
    private func check(
        _ options: CheckOptions, _ progress: ProgressHandler?, into report: inout DatabaseCheckReport
    ) throws(DatabaseError) {
        let meter = CheckMeter(progress)
        if options.includesValues {
            report.blobs = try blobReport { done, total in meter.allows(done, of: total) }
        }
        let check = try checkDocuments(blobs: options.includesValues ? report.blobs : nil, options, meter)
        report.documents = check.documents
        report.findings = check.findings.findings
        report.furtherFindings = check.findings.further
        report.blobs.documents = check.findings.findings.filter { $0.blob != nil }
    }

    /// Compares what is said of documents.
    ///
    /// - Parameter blobs: what is known of the blobs' files; `nil` to read no bodies.
    func checkDocuments(
        blobs: BlobCheckReport?, _ options: CheckOptions, _ meter: CheckMeter
    ) throws(DatabaseError) -> DocumentCheck {
        while true {
            let snapshot = core.openSnapshots.newest(of: core.store)
            let inventory = try blobs.map { (report) throws(DatabaseError) in
                try BlobInventory(core.vault.blobs, damaged: report.damaged.map(\.file))
            }
            var check = DocumentCheck(core, snapshot, inventory, meter, limit: options.maximumFindings)
            try check.run()
            // Another process may have removed blobs of documents that it has deleted since.
            guard check.findings.count > 0, try refresh() else { return check }
        }
    }
}

/// Tells how far the second half of a check is, and asks whether to go on with it.
struct CheckMeter {
    private let progress: ProgressHandler?

    init(_ progress: ProgressHandler?) { self.progress = progress }

    func allows(_ done: Int, of total: Int) -> Bool {
        progress?(WorkProgress(completed: UInt64(done), total: UInt64(total))) ?? true
    }

    /// - Throws: `cancelled`.
    func note(_ done: UInt64, of total: UInt64) throws(DatabaseError) {
        guard done % 4096 == 0, progress?(WorkProgress(completed: done, total: total)) == false else {
            return
        }
        throw DatabaseError(.cancelled, "The check was stopped before its end, as asked.")
    }
}

// MARK: - DatabaseCheckReport

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

// MARK: - Blob Check

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

// MARK: - BlobReferences

/// The blobs that a document's body refers to: by its attachments, and by properties that are references to blobs.
enum BlobReferences {
    /// The digests in the stored form of a body, each once. O(length of the body).
    static func digests(inBody bytes: ByteView) -> Set<BlobDigest> {
        var marks = BlobMarks()
        unsafe marks.mark(bytes.buffer)
        // Most bodies have nothing that reads like a digest, and need no decoding.
        guard !marks.digests.isEmpty, let body = try? DocumentBody(stored: bytes) else {
            return []
        }
        var found = Set(body.attachments.values.compactMap { BlobDigest($0.digest) })
        guard found != marks.digests else { return found }
        var values = [body.properties.root]
        // Shared parts of a damaged body might unfold without end.
        var left = bytes.count
        while let value = values.popLast(), left > 0 {
            left -= 1
            if let dictionary = value.dictionary {
                if let digest = Blob(value).flatMap({ BlobDigest($0.digest) }) { found.insert(digest) }
                for (_, member) in dictionary { values.append(member) }
            } else if let array = value.array {
                values.append(contentsOf: array)
            }
        }
        return found
    }
}

/// Which blobs are there, and whole.
struct BlobInventory {
    private let blobs: BlobStore
    private let present: Set<String>
    private let damaged: Set<String>

    /// - Parameter damaged: The names of files that hold not what they should.
    init(_ blobs: BlobStore, damaged: some Sequence<String>) throws(DatabaseError) {
        self.blobs = blobs
        present = Set(try translating { () throws(BlobError) in try blobs.files() }.map(\.name))
        self.damaged = Set(damaged)
    }

    /// What is wrong with a blob, as part of a sentence; `nil` when it is there and whole.
    func fault(of digest: String) -> String? {
        guard let named = BlobDigest(digest) else { return nil }
        let names = blobs.names(of: CollectionOfOne(named)).intersection(present)
        if names.isEmpty { return "its blob \(digest) is missing" }
        return names.isSubset(of: damaged) ? "its blob \(digest) is damaged" : nil
    }
}
