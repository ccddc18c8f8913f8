import RoostBytes
import RoostFile

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
