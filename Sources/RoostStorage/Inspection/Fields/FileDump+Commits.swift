import RoostBytes

extension FileDump {
    /// A commit of the file: its number and kind, where it is, and its chunks if they were asked for.
    package struct CommitPart: Sendable {
        /// Its number.
        package let number: UInt64
        /// What it holds.
        package let kind: Commit.Kind
        /// Its first byte up to its record's first.
        package let range: Range<UInt64>
    }

    /// One thing in a commit.
    package struct Part: Sendable {
        /// What it is: `value`, `node`, `operations`, `directory`, `damage`.
        package let name: String
        /// Where it is.
        package let range: Range<UInt64>
    }

    /// All commits whose records can be read, newest first, until `body` returns `false`.
    package func forEachCommit(_ body: (CommitPart) throws(StoreError) -> Bool) throws(StoreError) {
        var end = size
        while let record = try LogScanner(file: file).nearestRecord(before: end), record.end <= end {
            file.noteHistory(of: record)
            let part = CommitPart(
                number: record.number, kind: Commit(record).kind, range: record.start..<record.offset)
            guard try body(part) else { return }
            end = record.start
        }
    }

    /// The commit with that number, the newest for `nil`; `nil` when no record of it can be read.
    package func commit(number: UInt64?) throws(StoreError) -> CommitPart? {
        var found: CommitPart?
        try forEachCommit { (commit) throws(StoreError) in
            if number == nil || commit.number == number { found = commit }
            return found == nil && commit.number > number ?? 0
        }
        return found
    }

    /// The chunks of a commit and what is damaged between them, in the order of the file.
    package func forEachPart(
        of commit: CommitPart, _ body: (Part) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var scan = ChunkScan(file: file, from: commit.range.lowerBound, to: commit.range.upperBound)
        while let item = try scan.next() {
            let part =
                switch item {
                case .chunk(let chunk, let kind):
                    Part(name: kind.content.name, range: chunk.offset..<chunk.end)
                case .damage(let range): Part(name: "damage", range: range)
                }
            guard try body(part) else { return }
        }
    }

    /// The record of a commit.
    package func record(of commit: CommitPart) throws(StoreError) -> FileSection {
        let start = commit.range.upperBound
        let bytes = try read(start..<start + UInt64(CommitRecord.size))
        return bytes.withView { bytes in
            FileDump.section("Record of commit \(commit.number)", bytes, at: start) {
                (fields) throws(MalformedBytes) in try fields.readRecord()
            }
        }
    }
}
