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
