import RoostBytes

/// Brings the trees of a checkpoint up to a later commit by replaying the log.
struct Replayer {
    let file: DataFile
    let reductions: ReductionRegistry
    let nodeSize: Int

    private var scanner: LogScanner { LogScanner(file: file) }

    /// The trees as of `record`. Leaves that fill up on the way are written into `output`.
    func state(at record: CommitRecord, output: CommitBuffer, owner: UInt64) throws(StoreError) -> StoreState
    {
        guard
            let checkpoint = record.kind == .checkpoint ? record : try scanner.record(at: record.checkpoint),
            checkpoint.kind == .checkpoint
        else { throw .damaged("a missing or changed checkpoint", at: record.checkpoint, in: file.path) }
        let base = try loadNearest(checkpoint)
        var records: [CommitRecord] = []
        var current: CommitRecord? = record
        while let next = current, next.offset > base.record.replayAfter {
            records.append(next)
            current = try scanner.previous(of: next)
        }
        if Failpoint.skippedCommit.isActive { records = records.dropLast() }
        return try apply(records.reversed(), to: base, output: output, owner: owner)
    }

    /// The trees as `checkpoint` stored them, or, where its root directory is damaged, an earlier one, after which there is
    /// more to replay.
    private func loadNearest(_ checkpoint: CommitRecord) throws(StoreError) -> StoreState {
        var checkpoint = checkpoint
        var damage: StoreError?
        while true {
            do throws(StoreError) {
                return try load(checkpoint)
            } catch {
                guard error.code == .damaged, let earlier = try self.checkpoint(before: checkpoint) else {
                    throw damage ?? error
                }
                damage = damage ?? error
                checkpoint = earlier
            }
        }
    }

    private func checkpoint(before checkpoint: CommitRecord) throws(StoreError) -> CommitRecord? {
        guard let previous = try scanner.previous(of: checkpoint) else { return nil }
        guard previous.kind != .checkpoint else { return previous }
        let found = try scanner.record(at: previous.checkpoint)
        return found?.kind == .checkpoint ? found : nil
    }

    /// The trees as a checkpoint stored them.
    func load(_ checkpoint: CommitRecord) throws(StoreError) -> StoreState {
        guard let place = checkpoint.directory else { preconditionFailure("a checkpoint has a directory") }
        file.noteHistory(of: checkpoint)
        let payload = try file.payload(.directory, place)
        let directory = try file.reading(place) { () throws(MalformedBytes) in
            try payload.withView { (bytes) throws(MalformedBytes) in
                try RootDirectory(decoding: bytes, at: place)
            }
        }
        file.codec.history.note(directory.history.filter { $0.start <= checkpoint.start })
        let names = Set(directory.trees.map { Key($0.name) })
        guard names.count == directory.trees.count else { throw file.damaged("two trees of one name", place) }
        let trees = directory.trees.map {
            let reduction = TreeReduction($0.reduction, in: reductions)
            let reader = TreeReader(file: file, root: $0.root, reduction: reduction)
            return TreeVersion(id: $0.id, name: $0.name, reader: reader)
        }
        return StoreState(
            file: file, record: checkpoint, trees: TreeTable(trees, nextID: directory.nextTreeID), logBytes: 0
        )
    }

    /// Replays `records`, oldest first, onto `base`.
    func apply(
        _ records: some Sequence<CommitRecord>, to base: StoreState, output: CommitBuffer, owner: UInt64
    ) throws(StoreError) -> StoreState {
        let changes = TreeSet(
            base: base, reductions: reductions,
            context: TreeEditor.Context(owner: owner, file: file, output: output, nodeSize: nodeSize))
        var last = base.record
        for record in records { file.noteHistory(of: record) }
        for record in records {
            for chunk in try chunks(of: record) { try replay(chunk, onto: changes) }
            output.countLogged(CommitRecord.size)
            last = record
        }
        return StoreState(
            file: file, record: last, trees: changes.versions, logBytes: base.logBytes + output.loggedBytes,
            replayed: base.replayed)
    }

    /// The commit's chunks of operations, first to last.
    func chunks(of record: CommitRecord) throws(StoreError) -> [ChunkReference] {
        var chunks: [ChunkReference] = []
        var next = record.operations
        while let chunk = next {
            chunks.append(chunk)
            let payload = try file.payload(.operations, chunk)
            next = try file.reading(chunk) { () throws(MalformedBytes) in
                try payload.withView { (bytes) throws(MalformedBytes) in
                    try OperationChunk.previous(in: bytes, at: chunk)
                }
            }
        }
        return chunks.reversed()
    }

    private func replay(_ chunk: ChunkReference, onto changes: TreeSet) throws(StoreError) {
        let payload = try file.payload(.operations, chunk)
        changes.context.output.countLogged(Int(chunk.length))
        try payload.withView { (bytes) throws(StoreError) in
            let sections = try file.reading(chunk) { () throws(MalformedBytes) in
                try OperationChunk.sections(of: bytes)
            }
            for section in sections {
                if section.tree == OperationChunk.treeSection {
                    let operations = try file.reading(chunk) { () throws(MalformedBytes) in
                        try TreeOperation.decode(section.bytes)
                    }
                    for operation in operations { try changes.apply(operation, from: chunk) }
                } else {
                    try replay(section.bytes, of: section.tree, onto: changes, from: chunk)
                }
            }
        }
    }

    private func replay(
        _ bytes: ByteView, of tree: UInt64, onto changes: TreeSet, from chunk: ChunkReference
    ) throws(StoreError) {
        // A tree that a later commit dropped may be missing from a checkpoint that was made meanwhile.
        guard let editor = try changes.editor(tree) else { return }
        var decoder = OperationDecoder(bytes)
        do throws(OperationDecoder.Failure<StoreError>) {
            while try decoder.next({ (operation) throws(StoreError) in
                try editor.replay(operation, from: chunk)
            }) {}
        } catch {
            switch error {
            case .malformed: throw file.damaged("malformed operations", chunk)
            case .body(let cause): throw cause
            }
        }
        editor.log.reset()
    }
}

extension TreeEditor {
    /// Does again what the log says, without logging it again.
    func replay(_ operation: LogOperation, from chunk: ChunkReference) throws(StoreError) {
        switch operation {
        case .put(let key, let entry):
            try put(key, entry)
        case .delete(let key):
            try deleteUnlogged(key)
        case .deleteRange(let lower, let upper):
            try deleteRange(lower, upper)
        case .appendLeaf(let leaf):
            guard leaf.offset < chunk.offset else {
                throw context.file.damaged("operations that name a later leaf", chunk)
            }
            context.output.countLogged(Int(leaf.length))
            try attach(leaf)
        }
    }

    /// Puts the stored leaf at `chunk` at the tree's end, in the place of all keys from its first one on.
    private func attach(_ chunk: ChunkReference) throws(StoreError) {
        let pin = context.file.cache.reclaimer.readers.pin()
        let page = try context.file.page(chunk, pin)
        guard page.level == 0, page.count > 0 else { throw context.file.damaged("an empty leaf", chunk) }
        let first = page.key(0)
        try deleteRange(first, nil)
        var stored = StoredChild(
            chunk: chunk, summary: Summary(count: UInt64(page.count), bytes: UInt64(chunk.length)))
        try context.file.reading(chunk) { () throws(MalformedBytes) in
            for index in 0..<page.count { stored.summary.bytes &+= try page.entry(index).ownedBytes }
        }
        if let function {
            let leaf = LeafImage()
            leaf.load(page)
            stored.reduction = function.storedValue(of: leaf.page, in: context.file)
        }
        try attach(stored, first)
    }

    private func attach(_ leaf: StoredChild, _ first: [UInt8]) throws(StoreError) {
        var last = try descendToLast()
        // Leaves that deletions have emptied may begin after the new leaf does, whose keys would not be found in their place.
        while last.summary.count == 0, let step = path.last {
            try replace(step.index..<step.index + 1, path, with: [], separators: [])
            last = try descendToLast()
        }
        // Deletions at or above the new leaf's beginning must not stay pending in the leaf before it.
        if last.hasPending(from: first) {
            try rewrite(last)
            last = try descendToLast()
        }
        if last.summary.count == 0 {
            try replaceRoot(with: [Child(leaf)], [[]])
        } else if let step = path.last {
            try replace(
                step.index + 1..<step.index + 1, path, with: [Child(leaf)], separators: [first])
        } else {
            try replaceRoot(with: [root, Child(leaf)], [[], first])
        }
    }
}

extension LeafNode {
    /// Whether there are pending changes of keys at or above `key`.
    fileprivate func hasPending(from key: [UInt8]) -> Bool {
        let pending = delta.view
        return key.withView { pending.search($0).index } < pending.count
    }
}
