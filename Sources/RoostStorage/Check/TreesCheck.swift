import RoostBytes

/// Verifies the trees of one commit: as the last checkpoint stored them, and with the log since replayed.
final class TreesCheck {
    private let file: DataFile
    private let record: CommitRecord
    private let options: CheckOptions
    private let findings: FindingList
    private let meter: ProgressMeter
    private let reductions: ReductionRegistry
    private(set) var nodes = 0
    private(set) var values = 0

    init(
        _ file: DataFile, at record: CommitRecord, reductions: ReductionRegistry, _ options: CheckOptions,
        _ findings: FindingList, _ meter: ProgressMeter
    ) {
        self.file = file
        self.record = record
        self.options = options
        self.findings = findings
        self.meter = meter
        self.reductions = reductions
    }

    /// - Returns: the trees, `nil` when they can't be had.
    func run(from checkpoint: CommitRecord) throws(StoreError) -> StoreState? {
        guard
            let stored = try attempt(
                at: checkpoint.offset, { () throws(StoreError) in try replayer.load(checkpoint) })
        else { return nil }
        let state = try attempt(at: record.offset) { () throws(StoreError) in try replay() }
        let newest = state ?? stored
        var frontier: [UInt64: [UInt64: Summary]] = [:]
        var lower: UInt64? = 0
        while let start = lower {
            let ledger = ChunkLedger(from: start, memoryLimit: options.memoryLimit, findings)
            try noteLog(since: checkpoint, in: ledger)
            for tree in newest.trees {
                frontier[tree.id] = try walk(tree, ledger, isFirst: start == 0)
            }
            lower = ledger.finish()
        }
        if state != nil { try walkStored(stored, frontier, newest) }
        verifyTotals(stored, checkpoint)
        return newest
    }

    private var replayer: Replayer {
        Replayer(
            file: file, reductions: reductions, nodeSize: StoreOptions().nodeSizeInRange
        )
    }

    private func attempt<R>(
        at offset: UInt64, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        do throws(StoreError) {
            return try body()
        } catch {
            try findings.add(error, at: offset)
            return nil
        }
    }

    /// The trees with the log replayed.
    private func replay() throws(StoreError) -> StoreState {
        let output = CommitBuffer(
            file: file, start: try file.nextReplayedRegion(), compression: 0, pool: nil)
        return try replayer.state(at: record, output: output, owner: 0)
    }

    /// Walks a tree of the newest commit; returns the stored subtrees below its nodes in memory.
    private func walk(
        _ tree: TreeVersion, _ ledger: ChunkLedger, isFirst: Bool
    ) throws(StoreError) -> [UInt64: Summary] {
        let walk = makeWalk(
            tree, isFirst ? findings : FindingList(limit: 1), isFirst && options.includesValues
        ) {
            [self] (chunk, use, kind) throws(StoreError) in
            // Nodes that replaying made are in memory, and are read from there; values never are.
            if kind == .node, chunk.offset >= StoreOpener.replayedStart { return }
            guard chunk.offset >= Format.firstCommit, chunk.end <= record.end else {
                findings.add("a reference to bytes outside all commits", at: chunk.offset, tree: tree.name)
                return
            }
            ledger.note(chunk, use)
            if isFirst, kind == .node || options.includesValues && use != .borrowed {
                try meter.advance(UInt64(chunk.length))
            }
        }
        try walk.walk(tree.root)
        if isFirst {
            nodes += walk.nodeCount
            values += walk.valueCount
        }
        return walk.frontier
    }

    private func makeWalk(
        _ tree: TreeVersion, _ findings: FindingList, _ readsValues: Bool,
        _ visit: @escaping (ChunkReference, ChunkLedger.Use, ChunkKind) throws(StoreError) -> Void
    ) -> TreeWalk {
        let reduction = reductions[tree.reduction]
        if reduction == nil, !tree.reduction.isEmpty {
            findings.add(
                "the reduction \"\(tree.reduction)\" was not given, so its values are not verified", at: 0,
                tree: tree.name, .notice)
        }
        return TreeWalk(
            file: file, end: record.end, tree: tree.name, reduction: reduction, findings: findings,
            readsValues: readsValues,
            visit: visit)
    }

    /// Walks what the checkpoint stored and later changes replaced.
    private func walkStored(
        _ stored: StoreState, _ frontier: [UInt64: [UInt64: Summary]], _ newest: StoreState
    ) throws(StoreError) {
        for tree in stored.trees {
            if case .stored? = newest.trees[tree.id]?.root { continue }
            let walk = makeWalk(tree, findings, false) { (_, _, _) throws(StoreError) in }
            walk.known = frontier[tree.id] ?? [:]
            try walk.walk(tree.root)
            nodes += walk.nodeCount
        }
    }

    /// The chunks that opening reads besides the trees.
    private func noteLog(since checkpoint: CommitRecord, in ledger: ChunkLedger) throws(StoreError) {
        if let directory = checkpoint.directory { ledger.note(directory, .owned) }
        var current: CommitRecord? = record
        while let next = current, next.offset > checkpoint.replayAfter {
            for chunk in (try? replayer.chunks(of: next)) ?? [] { ledger.note(chunk, .owned) }
            current = try? LogScanner(file: file).previous(of: next)
        }
    }

    private func verifyTotals(_ stored: StoreState, _ checkpoint: CommitRecord) {
        if checkpoint.replayAfter == checkpoint.offset, stored.liveBytes != checkpoint.liveBytes {
            findings.add("a checkpoint whose live bytes are miscounted", at: checkpoint.offset, .warning)
        }
    }
}
