import RoostBytes
import RoostFile

/// The inspection of one file: every commit for what it holds, then the newest trees for what of that is alive.
struct Inspector {
    private let file: DataFile
    private let reductions: ReductionRegistry
    private let nodeSize: Int
    private let options: InspectionOptions
    private let findings = FindingList(limit: 100)

    init(_ file: DataFile, reductions: ReductionRegistry, nodeSize: Int, _ options: InspectionOptions) {
        self.file = file
        self.reductions = reductions
        self.nodeSize = nodeSize
        self.options = options
        file.writtenEnd.store(StoreOpener.replayedStart, ordering: .releasing)
    }

    /// Inspects the file as of `record`, or as of what opening would find.
    func run(at record: CommitRecord?, _ progress: ProgressHandler?) throws(StoreError) -> StoreInspection {
        let size = try fileCall { () throws(FileError) in try file.file.size() }
        var inspection = StoreInspection(file, size: size, nodeSize: nodeSize, options)
        let header = 0..<min(Format.firstCommit, size)
        inspection.add(header, .header, isChunk: false)
        inspection.revive(header, .header, isChunk: false)
        let newest: CommitRecord?
        if let record { newest = record } else { newest = try newestRecord(before: size) }
        if let newest {
            let meter = ProgressMeter(total: newest.end &+ newest.liveBytes, progress)
            try inspect(newest, &inspection, meter)
            try meter.complete()
        } else {
            findings.add("no commit that can be read", at: Format.firstCommit)
        }
        let end = newest?.end ?? header.upperBound
        if end < size { inspection.add(end..<size, .prepared, isChunk: false) }
        inspection.findings = findings.findings
        return inspection
    }

    /// The commit that opening would find; where it would refuse, the last of which a record is left.
    private func newestRecord(before size: UInt64) throws(StoreError) -> CommitRecord? {
        do throws(StoreError) {
            if let record = try LogScanner(file: file).lastCommit() { return record }
        } catch {
            try findings.add(error, at: Format.firstCommit)
        }
        return try LogScanner(file: file).nearestRecord(before: size)
    }

    private func inspect(
        _ newest: CommitRecord, _ inspection: inout StoreInspection, _ meter: ProgressMeter
    ) throws(StoreError) {
        inspection.commit = Commit(newest)
        let found =
            newest.kind == .checkpoint ? newest : try LogScanner(file: file).record(at: newest.checkpoint)
        let checkpoint = found.flatMap { $0.kind == .checkpoint ? $0 : nil }
        let replayAfter = checkpoint?.replayAfter ?? newest.offset
        var timeline = CommitTimeline(limit: options.maximumSpans)
        try CommitSurvey(file, findings, meter, replayAfter: replayAfter)
            .run(from: newest, &inspection, &timeline)
        inspection.timeline = timeline.oldestFirst
        guard let checkpoint, let directory = checkpoint.directory else {
            return findings.add("a missing or changed checkpoint", at: newest.checkpoint)
        }
        inspection.revive(directory.range, .directory, isChunk: true)
        guard let state = try state(at: newest, since: checkpoint) else { return }
        for tree in state.trees.sorted(by: { $0.name < $1.name }) {
            inspection.trees.append(try survey(tree, newest, &inspection, meter))
        }
    }

    private func survey(
        _ tree: TreeVersion, _ newest: CommitRecord, _ inspection: inout StoreInspection,
        _ meter: ProgressMeter
    ) throws(StoreError) -> TreeShape {
        var live = inspection
        let survey = TreeSurvey(file, tree, end: newest.end, nodeSize: nodeSize, findings) {
            (chunk, content) throws(StoreError) in
            guard chunk.offset >= Format.firstCommit, chunk.end <= newest.end else { return }
            live.revive(chunk.range, content, isChunk: true)
            try meter.advance(UInt64(chunk.length))
        }
        try survey.run(tree.root)
        inspection = live
        return survey.shape
    }

    /// The trees with the log replayed; without it where that can't be read; `nil` where there are none to be had.
    private func state(
        at newest: CommitRecord, since checkpoint: CommitRecord
    ) throws(StoreError) -> StoreState? {
        let replayer = Replayer(
            file: file, reductions: reductions, nodeSize: StoreOptions().nodeSizeInRange
        )
        do throws(StoreError) {
            let output = CommitBuffer(
                file: file, start: try file.nextReplayedRegion(), compression: 0, pool: nil)
            return try replayer.state(at: newest, output: output, owner: 0)
        } catch {
            try findings.add(error, at: newest.offset)
        }
        do throws(StoreError) {
            return try replayer.load(checkpoint)
        } catch {
            try findings.add(error, at: checkpoint.offset)
            return nil
        }
    }
}

extension ChunkReference {
    fileprivate var range: Range<UInt64> { offset..<end }
}

// MARK: - Inspection

extension Store {
    /// Finds out where the bytes are in the file at `path`, which nobody need have open. Takes no lock, writes nothing,
    /// and makes the best of damaged files.
    ///
    /// Reads the headers of all chunks, and the nodes of all trees; no values. Memory: what the log since the last
    /// checkpoint takes, and a picture of bounded size. Branch nodes that pending changes have replaced count as dead,
    /// although opening needs them until the next checkpoint.
    ///
    /// - Parameters:
    ///   - path: the store's file.
    ///   - options: how to open the store; its key where it is encrypted, and the size of its nodes, by which is
    ///     measured how full they are.
    ///   - inspecting: how finely to look.
    ///   - progress: returns `false` to stop.
    /// - Throws: what keeps the file from being read, such as ``StoreError/Code/notAStore``,
    ///   ``StoreError/Code/wrongKey``, ``StoreError/Code/damaged`` when both headers are lost, or
    ///   ``StoreError/Code/cancelled``.
    public static func inspect(
        _ path: String, options: StoreOptions = StoreOptions(),
        inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> StoreInspection {
        try inspect(path, options: options, environment: .system, inspecting: inspecting, progress: progress)
    }

    /// As ``inspect(_:options:inspecting:progress:)``, on a medium of the caller's choice.
    package static func inspect(
        _ path: String, options: StoreOptions, environment: Environment,
        inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> StoreInspection {
        var options = options
        options.cacheSize = StoreCheck.cacheLimit
        let file = try StoreOpener(path: path, options: options, environment: environment).openFile(.readOnly)
        return try Inspector(
            file, reductions: options.reductions, nodeSize: options.nodeSizeInRange, inspecting
        ).run(at: nil, progress)
    }

    /// Finds out where the bytes of the store are as of its newest commit, while others read and write; see
    /// ``inspect(_:options:inspecting:progress:)``.
    public func inspect(
        _ inspecting: InspectionOptions = InspectionOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> StoreInspection {
        let state = state
        try state.checkOpen()
        let file = DataFile(
            file: state.file.file, header: state.file.header, transform: state.file.codec.transform,
            cacheLimit: StoreCheck.cacheLimit)
        return try Inspector(
            file, reductions: options.reductions, nodeSize: options.nodeSizeInRange, inspecting
        ).run(at: state.record, progress)
    }
}

// MARK: - CommitSurvey

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
