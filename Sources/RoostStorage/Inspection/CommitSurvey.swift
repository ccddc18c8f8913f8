import RoostBytes
import RoostFile

/// Counts what commits hold, from the newest back to the file's first, by going from one chunk's header to the next.
///
/// Nothing is verified but commit records: that is what the integrity check is for. Where the bytes make no sense the
/// rest of the commit counts as unreadable.
struct CommitSurvey {
    let file: DataFile
    let findings: FindingList
    let meter: ProgressMeter
    /// The log of commits after this record is alive.
    let replayAfter: UInt64
    private let window = ByteBuffer(capacity: CommitSurvey.windowLength)

    private static let windowLength = 1 << 16

    init(_ file: DataFile, _ findings: FindingList, _ meter: ProgressMeter, replayAfter: UInt64) {
        self.file = file
        self.findings = findings
        self.meter = meter
        self.replayAfter = replayAfter
    }

    func run(
        from newest: CommitRecord, _ inspection: inout StoreInspection, _ timeline: inout CommitTimeline
    ) throws(StoreError) {
        var end = newest.end
        var current: CommitRecord? = newest
        while let record = current {
            if record.end < end { inspection.add(record.end..<end, .unreadable, isChunk: false) }
            inspection.commits += 1
            timeline.add(record)
            try survey(record, &inspection)
            try meter.advance(record.end - record.start)
            end = record.start
            current = try step(from: record)
        }
        if end > Format.firstCommit {
            inspection.add(Format.firstCommit..<end, .unreadable, isChunk: false)
        }
    }

    private func step(from record: CommitRecord) throws(StoreError) -> CommitRecord? {
        do throws(StoreError) {
            return try LogScanner(file: file).previous(of: record)
        } catch {
            try findings.add(error, at: record.previous, .warning)
            let found = try LogScanner(file: file).nearestRecord(before: record.start)
            return found.flatMap { $0.end <= record.start ? $0 : nil }
        }
    }

    private func survey(_ record: CommitRecord, _ inspection: inout StoreInspection) throws(StoreError) {
        var position = record.start
        window.resize(to: 0)
        var windowStart = position
        while record.offset - position > 5 {
            let needed = Int(min(record.offset - position, UInt64(ChunkCodec.maximumHeaderLength)))
            if position - windowStart + UInt64(needed) > UInt64(window.count) {
                windowStart = position
                try load(from: position, to: record.offset)
                if window.count < needed { break }
            }
            let bytes = window.view.slice(Int(position - windowStart), needed)
            guard let (kind, length) = ChunkCodec.shape(of: bytes), UInt64(length) <= record.offset - position
            else { break }
            let range = position..<position + UInt64(length)
            inspection.add(range, kind.content, isChunk: true)
            if record.offset > replayAfter, kind == .operations {
                inspection.revive(range, .operations, isChunk: true)
            }
            position = range.upperBound
        }
        finish(record, from: position, &inspection)
    }

    /// Counts what follows the last chunk: zeros and the record, or what is no chunk.
    private func finish(
        _ record: CommitRecord, from position: UInt64, _ inspection: inout StoreInspection
    ) {
        var position = position
        if record.offset - position >= 2 * UInt64(Format.blockSize) {
            inspection.add(position..<record.offset, .unreadable, isChunk: false)
            findings.add("bytes within a commit that are no chunk", at: position, .warning)
            position = record.offset
        }
        inspection.add(position..<record.end, .framing, isChunk: false)
    }

    /// Fills the window from `position`; with fewer bytes where the file has not got them.
    private func load(from position: UInt64, to end: UInt64) throws(StoreError) {
        window.resize(to: Int(min(end - position, UInt64(CommitSurvey.windowLength))))
        do throws(FileError) {
            window.resize(to: unsafe try file.file.readFully(into: window.mutableBytes, at: position))
        } catch {
            window.resize(to: 0)
            findings.add("bytes that the medium does not give back", at: position, .warning)
        }
    }
}

extension ChunkKind {
    /// What a file's bytes in such a chunk are.
    var content: FileContent {
        switch self {
        case .value: .value
        case .node: .node
        case .operations: .operations
        case .directory: .directory
        }
    }
}
