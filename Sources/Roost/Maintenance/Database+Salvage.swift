import Foundation
import RoostBlobs
import RoostFile
import RoostStorage

extension Database {
    /// Rescues what can be read of the damaged database at `path` into a new one at `destination`. Writes nothing to the
    /// damaged one, which nobody should have open.
    ///
    /// Of each document the newest revision that can be read is rescued, whether it was found in the order of IDs or in
    /// that of changes; both orders, the collections' counts and the expirations are then made anew from the documents, so
    /// that ``check(_:progress:)-(_,ProgressHandler?)`` finds nothing wrong with the new database but blobs that are lost.
    /// What said that a document was deleted or purged may be lost too, so that it comes back.
    ///
    /// The keys of an encrypted database's blobs stand among its documents. Where these keys are lost, nothing can read the
    /// blobs that were sealed under them; the report names the documents that refer to these, and a backup has them.
    ///
    /// The new database appears when it is complete; until then it stands under the name with `.part` behind it.
    ///
    /// - Parameters:
    ///   - path: the damaged database's directory.
    ///   - destination: the new database's directory, which must not exist or be empty.
    ///   - key: the key of the damaged database, and of the new one.
    ///   - progress: called on this thread; returns `false` to stop.
    /// - Returns: what was lost, as far as that can be told.
    /// - Throws: `notFound`, `notADatabase`, `wrongKey`, `alreadyExists` when there is something at `destination`,
    ///   `noSpace`, `cancelled`.
    @discardableResult
    public static func salvage(
        _ path: String, to destination: String, key: EncryptionKey? = nil, progress: ProgressHandler? = nil
    ) throws(DatabaseError) -> DatabaseSalvageReport {
        var options = DatabaseOptions()
        options.key = key
        return try DatabaseSalvage(
            source: path, destination: destination, options: options, progress: progress
        ).run()
    }
}

/// A salvage under way.
private struct DatabaseSalvage {
    let source: String
    let destination: String
    let options: DatabaseOptions
    let progress: ProgressHandler?
    private let environment = Environment.system

    /// Where the new database is made.
    private var part: String {
        (destination.last == "/" ? String(destination.dropLast()) : destination) + ".part"
    }

    func run() throws(DatabaseError) -> DatabaseSalvageReport {
        try DatabaseOpener.requireDocuments(at: source, environment.medium)
        try requireFreeDestination()
        try preparePart()
        do throws(DatabaseError) {
            return try salvage()
        } catch {
            // What is left behind otherwise, as by a kill, the next salvage removes.
            try? FileManager.default.removeItem(atPath: part)
            throw error
        }
    }

    private func salvage() throws(DatabaseError) -> DatabaseSalvageReport {
        let file = try translating { () throws(StoreError) in
            try Store.salvage(
                DatabaseOpener.dataPath(source), to: DatabaseOpener.dataPath(part), options: options.store,
                progress: progress)
        }
        var findings = DocumentFindings(limit: DatabaseSalvageReport.maximumFindings)
        try CatalogRepair(part, options, environment).run(&findings)
        let database = try Database.open(part, options: options, environment: environment)
        var report = DatabaseSalvageReport(file: file)
        for (name, trees) in try database.core.collections(in: database.core.store.snapshot()) {
            var repair = CollectionRepair(database.core, name, trees)
            try repair.run(losses: file.losses, &findings)
            report.collections += 1
            report.documents += repair.documents
        }
        try copyBlobs(to: database)
        let blobs = try database.blobReport { _, _ in true }
        for finding in try database.checkDocuments(blobs: blobs, CheckOptions(), CheckMeter(nil)).findings
            .findings
        {
            findings.add(finding)
        }
        try database.close()
        try finish()
        report.findings = findings.findings
        report.furtherFindings = findings.further
        return report
    }

    private func requireFreeDestination() throws(DatabaseError) {
        let isFree = try translating { () throws(FileError) -> Bool in
            guard let status = try environment.medium.status(of: destination) else { return true }
            guard status.kind == .directory else { return false }
            return try environment.medium.list(destination).isEmpty
        }
        guard isFree else {
            throw DatabaseError(
                .alreadyExists, "\(destination) is there already. Give a path where nothing is.")
        }
    }

    /// Makes the directory, and removes what an earlier salvage left in it that was interrupted.
    private func preparePart() throws(DatabaseError) {
        try DatabaseOpener(path: part, options: DatabaseOptions(), environment: environment).makeDirectory()
        try translating { () throws(FileError) in
            let file = DatabaseOpener.dataPath(part)
            if try environment.medium.status(of: file) != nil { try environment.medium.remove(file) }
        }
    }

    private func copyBlobs(to database: Database) throws(DatabaseError) {
        let blobs = BlobStore(BlobVault.path(source), .plain, environment: environment)
        blobs.setLayouts(database.core.vault.blobs.layouts)
        try translating { () throws(BlobError) in
            while try !BlobMirror(of: blobs, in: database.core.vault.blobs).copyMissing({ _ in }) {}
        }
    }

    private func finish() throws(DatabaseError) {
        try translating { () throws(FileError) in
            try environment.medium.rename(part, to: destination)
            try environment.medium.syncDirectory(of: destination)
        }
    }
}

// MARK: - DatabaseSalvageReport

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
