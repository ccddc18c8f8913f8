import RoostBytes
import RoostFile

/// The integrity check of one file as of one commit. Reads from the file alone, past the caches of open stores.
struct StoreCheck {
    private let file: DataFile
    private let reductions: ReductionRegistry
    private let options: CheckOptions
    private let findings: FindingList

    /// The node cache of a check, which reads everything once, in bytes.
    static let cacheLimit = 1 << 20

    init(_ file: DataFile, reductions: ReductionRegistry, _ options: CheckOptions) {
        self.file = file
        self.reductions = reductions
        self.options = options
        findings = FindingList(limit: options.maximumFindings)
        file.writtenEnd.store(StoreOpener.replayedStart, ordering: .releasing)
    }

    /// Checks the file as of `record`, or as of what opening would find, and what lies behind it.
    func run(at record: CommitRecord?, _ progress: ProgressHandler?) throws(StoreError) -> CheckReport {
        var report = CheckReport()
        try HeaderCheck(file: file, findings: findings).run()
        let newest: CommitRecord?
        if let record { newest = record } else { newest = try newestRecord() }
        if let newest {
            let meter = ProgressMeter(total: newest.end &+ newest.liveBytes, progress)
            try check(newest, &report, meter)
            if record == nil {
                try checkTail(after: newest)
                checkEnd(newest)
            }
            try meter.tell()
        } else {
            findings.add("no commit that can be read", at: Format.firstCommit)
        }
        report.findings = findings.findings
        report.furtherFindings = findings.further
        return report
    }

    /// The commit that opening would find. Where opening would refuse, the last of which anything is left.
    private func newestRecord() throws(StoreError) -> CommitRecord? {
        do throws(StoreError) {
            if let record = try LogScanner(file: file).lastCommit() { return record }
        } catch {
            try findings.add(error, at: Format.firstCommit)
        }
        return try LogScanner(file: file).nearestRecord(before: try size())
    }

    private func size() throws(StoreError) -> UInt64 {
        try fileCall { () throws(FileError) in try file.file.size() }
    }

    private func check(
        _ newest: CommitRecord, _ report: inout CheckReport, _ meter: ProgressMeter
    ) throws(StoreError) {
        report.commit = newest.number
        let checkpoint =
            newest.kind == .checkpoint ? newest : try LogScanner(file: file).record(at: newest.checkpoint)
        let replayAfter = checkpoint.map { min($0.replayAfter, $0.start) } ?? 0
        report.commits = try CommitCheck(
            file: file, findings: findings, meter: meter, replayAfter: replayAfter,
            includesHistory: options.includesHistory
        ).run(from: newest)
        guard let checkpoint, checkpoint.kind == .checkpoint else {
            return findings.add("a missing or changed checkpoint", at: newest.checkpoint)
        }
        let trees = TreesCheck(file, at: newest, reductions: reductions, options, findings, meter)
        let state = try trees.run(from: checkpoint)
        report.trees = state?.trees.count ?? 0
        report.entries = state?.trees.weight.summary.count ?? 0
        report.nodes = trees.nodes
        report.values = trees.values
    }

    /// Notes that the newest commit is not the one that closing makes. Of a file that was closed and since then lost its end,
    /// nothing else tells.
    private func checkEnd(_ newest: CommitRecord) {
        guard newest.kind != .cleanShutdown || newest.syncedEnd != newest.start else { return }
        findings.add(
            "no note of a clean shutdown: the file is in use or a backup, its writer was killed, or later commits are lost",
            at: newest.end, .notice)
    }

    /// Notes bytes after the newest commit that are not the zeros prepared for the next.
    private func checkTail(after record: CommitRecord) throws(StoreError) {
        let size = try size()
        var position = record.end
        let window = ByteBuffer(capacity: LogScanner.largestWindow)
        while position < size {
            window.resize(to: Int(min(size - position, UInt64(LogScanner.largestWindow))))
            let count = try fileCall { () throws(FileError) in
                unsafe try file.file.readFully(into: window.mutableBytes, at: position)
            }
            guard count > 0 else { return }
            let bytes = window.view.slice(0, count)
            if let index = (0..<count).first(where: { bytes[$0] != 0 }) {
                return findings.add(
                    "bytes after the last whole commit, as a crash leaves them or a commit in progress",
                    at: position + UInt64(index), .notice)
            }
            position += UInt64(count)
        }
    }
}
