import RoostBytes

/// Repeats commits of the old file in the new one.
///
/// Operations say what the result is, so what they hold can be put into the new trees as it is, but for the values:
/// those copied before are found by their relocation, the others are copied, by whichever operation names them first.
final class CatchUp {
    private let source: DataFile
    /// The copy as of the commit that it was made of.
    private let copied: StoreState
    /// The end of that commit in the old file.
    private let copiedEnd: UInt64
    private let relocations: Relocations
    private let reductions: ReductionRegistry

    init(
        from source: StoreState, to copied: StoreState, relocations: Relocations,
        reductions: ReductionRegistry
    ) {
        self.source = source.file
        self.copied = copied
        copiedEnd = source.record.end
        self.relocations = relocations
        self.reductions = reductions
    }

    /// Applies the operations of the old file's commit `record`.
    func replay(_ record: CommitRecord, in transaction: StoreTransaction) throws(StoreError) {
        let replayer = Replayer(file: source, reductions: reductions, nodeSize: 0)
        for chunk in try replayer.chunks(of: record) {
            let payload = try source.payload(.operations, chunk)
            try payload.withView { (bytes) throws(StoreError) in
                let sections = try source.reading(chunk) { () throws(MalformedBytes) in
                    try OperationChunk.sections(of: bytes)
                }
                for section in sections { try replay(section.tree, section.bytes, chunk, in: transaction) }
            }
        }
    }

    private func replay(
        _ tree: UInt64, _ bytes: ByteView, _ chunk: ChunkReference, in transaction: StoreTransaction
    ) throws(StoreError) {
        guard tree != OperationChunk.treeSection else {
            let operations = try source.reading(chunk) { () throws(MalformedBytes) in
                try TreeOperation.decode(bytes)
            }
            for operation in operations { try transaction.repeatOperation(operation, from: chunk) }
            return
        }
        guard let editor = try transaction.trees.editor(tree) else { return }
        var decoder = OperationDecoder(bytes)
        do throws(OperationDecoder.Failure<StoreError>) {
            while try decoder.next({ (operation) throws(StoreError) in
                try apply(operation, to: editor, chunk, in: transaction)
                try transaction.relieve(editor)
            }) {}
        } catch {
            switch error {
            case .malformed: throw source.damaged("malformed operations", chunk)
            case .body(let cause): throw cause
            }
        }
    }

    private func apply(
        _ operation: LogOperation, to editor: TreeEditor, _ chunk: ChunkReference,
        in transaction: StoreTransaction
    ) throws(StoreError) {
        switch operation {
        case .put(let key, let entry):
            try editor.put(key, try relocated(entry, key, editor.id, in: transaction))
        case .delete(let key):
            try editor.delete(key)
        case .deleteRange(let lower, let upper):
            try editor.deleteRange(lower, upper)
        case .appendLeaf(let leaf):
            guard leaf.offset < chunk.offset else {
                throw source.damaged("operations that name a later leaf", chunk)
            }
            try append(leaf, to: editor, in: transaction)
        }
    }

    /// Puts the entries of a stored leaf at the tree's end, in the place of everything from its first key on.
    private func append(
        _ leaf: ChunkReference, to editor: TreeEditor, in transaction: StoreTransaction
    ) throws(StoreError) {
        let payload = try source.payload(.node, leaf)
        try payload.withView { (bytes) throws(StoreError) in
            guard let page = PageView(bytes), page.level == 0, page.count > 0 else {
                throw source.damaged("an empty leaf", leaf)
            }
            let first = page.key(0)
            if try hasKeys(from: first, editor) { try editor.deleteRange(first, nil) }
            for index in 0..<page.count {
                let entry = try source.reading(leaf) { () throws(MalformedBytes) in try page.entry(index) }
                try page.key(index).withView { (key) throws(StoreError) in
                    try editor.put(key, try relocated(entry, key, editor.id, in: transaction))
                }
            }
        }
    }

    private func hasKeys(from first: [UInt8], _ editor: TreeEditor) throws(StoreError) -> Bool {
        let image = LeafImage()
        let reader = try editor.readBack()
        _ = try reader.locate(.last, into: image)
        guard image.count > 0 else { return reader.count > 0 }
        return !image.page.key(image.count - 1).lexicographicallyPrecedes(first)
    }

    // MARK: Values

    /// The entry with its value's place in the new file, where the value is copied if it is not there yet.
    private func relocated(
        _ entry: Entry, _ key: ByteView, _ tree: UInt64, in transaction: StoreTransaction
    ) throws(StoreError) -> Entry {
        guard entry.kind != .none else { return entry }
        var result = entry
        if let chunk = try known(entry, key, tree) {
            result.chunk = chunk
            return result
        }
        let bytes = try source.read(entry.chunk)
        var scratch: ByteBuffer?
        let payload = try source.payload(of: bytes.view, .value, entry.chunk, scratch: &scratch)
        result.chunk = try transaction.append(value: payload).chunk
        withExtendedLifetime((bytes, scratch)) {}
        try relocations.add(entry.chunk.offset, result.chunk)
        return result
    }

    /// Where the value is in the new file.
    ///
    /// A value that one entry alone owns never leaves its key, so if the copy has it, then under this key.
    private func known(_ entry: Entry, _ key: ByteView, _ tree: UInt64) throws(StoreError) -> ChunkReference?
    {
        guard entry.kind == .owned, entry.chunk.offset < copiedEnd else {
            return try relocations.find(entry.chunk.offset)
        }
        guard let version = copied.trees[tree] else { return nil }
        let reader = TreeReader(file: copied.file, root: version.root, reduction: nil)
        var owned: ChunkReference?
        _ = try reader.find(key) { (found) throws(StoreError) in
            if found.kind == .owned { owned = found.chunk }
        }
        return owned
    }
}

// MARK: - LogFollower

/// Follows the old file's commits, repeating them in the new one.
final class LogFollower {
    private let catchUp: CatchUp
    private let source: DataFile
    private let target: CompactedStore
    private let pace: CompactionPace
    /// The last commit that was repeated.
    private var position: CommitRecord

    init(
        _ catchUp: CatchUp, from position: CommitRecord, in source: DataFile, target: CompactedStore,
        pace: CompactionPace
    ) {
        self.catchUp = catchUp
        self.position = position
        self.source = source
        self.target = target
        self.pace = pace
    }

    /// Bytes of log up to `goal`.
    ///
    /// - Throws: ``StoreError`` with `damaged` where the log ends before what was repeated, as after another process could not
    ///   sync that.
    func distance(to goal: CommitRecord) throws(StoreError) -> UInt64 {
        guard goal.end >= position.end else {
            throw source.missing("a commit that was whole a moment ago", at: position.offset)
        }
        return goal.end - position.end
    }

    /// Repeats the commits up to `goal`, or up to the first after `limit` bytes of log, as one commit.
    func advance(to goal: CommitRecord, limit: UInt64 = .max) throws(StoreError) {
        guard goal.offset > position.offset else { return }
        var stream = CommitStream(file: source, after: position)
        var last = position
        try target.repeating({ last }) { (transaction) throws(StoreError) in
            while last.offset < goal.offset, last.end - position.end < limit {
                guard let record = try stream.next() else {
                    throw source.missing("a commit that was whole a moment ago", at: last.end)
                }
                source.noteHistory(of: record)
                try catchUp.replay(record, in: transaction)
                last = record
                try pace.check()
            }
        }
        position = last
        // A commit without operations, as closing and checkpoints make, leaves nothing to repeat but its number.
        guard position.offset == goal.offset, target.state.record.number < goal.number else { return }
        try target.repeating({ goal }, .always) { _ in }
    }
}
