import RoostBlobs
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
