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

// MARK: - HeaderCheck

/// Verifies the header and its copy.
struct HeaderCheck {
    let file: DataFile
    let findings: FindingList

    func run() throws(StoreError) {
        for copy in 0..<2 {
            let offset = copy * Format.blockSize
            let block = ByteBuffer(capacity: Format.blockSize)
            block.resize(to: Format.blockSize)
            let count = try fileCall { () throws(FileError) in
                unsafe try file.file.readFully(into: block.mutableBytes, at: UInt64(offset))
            }
            block.resize(to: count)
            let header = try? FileHeader(decoding: block.view)
            let name = copy == 0 ? "header" : "copy of the header"
            if header == nil {
                findings.add("a damaged \(name)", at: UInt64(offset), .warning)
            } else if header != file.header {
                findings.add("a \(name) of another file", at: UInt64(offset), .warning)
            }
        }
    }
}

// MARK: - CommitCheck

/// Verifies commits from the newest back to the file's first: the chain of records and every byte of each commit.
struct CommitCheck {
    let file: DataFile
    let findings: FindingList
    let meter: ProgressMeter
    /// Opening replays the commits after this record; damage to older ones concerns only history.
    let replayAfter: UInt64
    let includesHistory: Bool

    private var scanner: LogScanner { LogScanner(file: file) }

    /// - Returns: how many commits there are.
    func run(from newest: CommitRecord) throws(StoreError) -> Int {
        var count = 0
        var current: CommitRecord? = newest
        while let record = current, includesHistory || record.offset > replayAfter {
            count += 1
            try verifyContents(record)
            try verifyFields(record)
            current = try step(from: record)
        }
        return count
    }

    private func severity(_ record: CommitRecord) -> CheckFinding.Severity {
        record.offset > replayAfter ? .error : .warning
    }

    /// The commit before, verified against `record`; where it is missing, the next before that can be found.
    private func step(from record: CommitRecord) throws(StoreError) -> CommitRecord? {
        do throws(StoreError) {
            guard let previous = try scanner.previous(of: record) else { return nil }
            compare(previous, record)
            return previous
        } catch {
            try findings.add(error, at: record.previous, severity(record))
            return try scanner.nearestRecord(before: record.previous)
        }
    }

    private func compare(_ previous: CommitRecord, _ record: CommitRecord) {
        let checkpoint = previous.kind == .checkpoint ? previous.offset : previous.checkpoint
        if record.kind != .checkpoint, record.checkpoint != checkpoint {
            findings.add(
                "a commit that names another checkpoint than the last", at: record.offset, severity(record))
        }
    }

    private func verifyFields(_ record: CommitRecord) throws(StoreError) {
        guard record.kind == .checkpoint, record.replayAfter != record.offset else { return }
        if try scanner.record(at: record.replayAfter) == nil {
            findings.add("a checkpoint that follows no commit", at: record.offset, severity(record))
        }
    }

    private func verifyContents(_ record: CommitRecord) throws(StoreError) {
        do throws(StoreError) {
            let isRight = try scanner.hasRightContent(record) { (count) throws(StoreError) in
                try meter.advance(count)
            }
            if !isRight { try locateDamage(record) }
        } catch {
            try findings.add(error, at: record.start, severity(record))
        }
    }

    /// Says where in the commit the damage is: the first chunk that is not whole, or the filling at the end.
    private func locateDamage(_ record: CommitRecord) throws(StoreError) {
        var scan = ChunkScan(file: file, from: record.start, to: record.offset)
        var isFound = false
        while let item = try scan.next() {
            guard case .damage(let range) = item else { continue }
            findings.add(
                "bytes that are not those that were committed", at: range.lowerBound, severity(record))
            isFound = true
        }
        if !isFound {
            findings.add("a commit whose checksum does not fit its bytes", at: record.start, severity(record))
        }
    }
}

// MARK: - PageCheck

/// Verifies one page as a whole: what look-ups rely on without testing it each time.
struct PageCheck {
    let page: PageView
    /// The span of keys that the node's parents leave it; `nil` is open.
    let lower: [UInt8]?
    let upper: [UInt8]?
    /// Tag bits that entries may have beside the reference kind.
    var allowedTags: UInt8 = 0

    /// The first fault, as part of a sentence; `nil` for a page that is as it should be.
    func fault() -> String? {
        if page.level > 0, page.count == 0 { return "a branch node without children" }
        let limit = page.level == 0 ? Format.maximumKeyLength : Format.maximumKeyLength + 1
        for index in 0..<page.count {
            if let fault = slotFault(index) { return fault }
            guard index >= first else { continue }
            guard page.keyLength(index) <= limit else { return "a key longer than any can be" }
            guard index == first || page.isOrdered(index - 1, index) else { return "keys out of order" }
        }
        return spanFault()
    }

    /// The first key that means something: a branch node's first child takes everything below its second.
    private var first: Int { page.level == 0 ? 0 : 1 }

    private func spanFault() -> String? {
        guard page.count > first else { return nil }
        if let lower {
            let order = page.key(first).withView { key in lower.withView { key.compare($0) } }
            // A branch node's second child starts after its first, which starts where the node does.
            guard page.level == 0 ? order >= 0 : order > 0 else {
                return "keys below the start of the node's span"
            }
        }
        if let upper {
            let order = page.key(page.count - 1).withView { key in upper.withView { key.compare($0) } }
            guard order < 0 else { return "keys at or above the end of the node's span" }
        }
        return nil
    }

    /// What is wrong with the slot and the cell at `index`, by themselves.
    private func slotFault(_ index: Int) -> String? {
        let length = page.suffixLength(index)
        if length < 4, page.head(index) << (8 * UInt32(length)) != 0 {
            return "a key's head with bytes after its end"
        }
        if page.level > 0, index == 0, length > 0 { return "a first child with a key" }
        guard page.rest(index).count == max(length - 4, 0) else {
            return "a key that reaches beyond its node"
        }
        do {
            if page.level > 0 { return try childFault(index) }
            let (entry, tag) = try page.taggedEntry(index)
            if tag & ~(3 | allowedTags) != 0 { return "an entry with unknown marks" }
            if entry.inline.count > Format.maximumInlineLength { return "an entry larger than any can be" }
            return nil
        } catch {
            return "a malformed entry"
        }
    }

    private func childFault(_ index: Int) throws(MalformedBytes) -> String? {
        let child = try page.child(index)
        return child.reduction.count > Format.maximumReductionLength
            ? "a reduction longer than any can be" : nil
    }
}
