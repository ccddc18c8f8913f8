import RoostBytes

/// The trees of a state while they are being changed: an editor for each that was touched.
@safe final class TreeSet {
    let base: StoreState
    let context: TreeEditor.Context
    private let reductions: ReductionRegistry
    private(set) var editors: [UInt64: TreeEditor] = [:]
    /// Editors that were asked for lately, kept by ``editors``, so that few are looked up there. Each has the place that the
    /// last bits of its number say.
    private let recent: UnsafeMutablePointer<Unmanaged<TreeEditor>?>
    private static let recentCount = 8
    /// Bytes of memory that editors have taken since most of them was last given back.
    private var grownBytes = 0
    /// Trees as they are apart from what their editors did.
    private(set) var trees: TreeTable

    init(
        base: StoreState, reductions: ReductionRegistry, context: TreeEditor.Context
    ) {
        self.base = base
        self.reductions = reductions
        self.context = context
        trees = base.trees
        unsafe recent = .allocate(capacity: TreeSet.recentCount)
        unsafe recent.initialize(repeating: nil, count: TreeSet.recentCount)
    }

    deinit { unsafe recent.deallocate() }

    /// The trees as they are now. O(touched trees), as all of this type.
    var versions: TreeTable {
        var result = trees
        for editor in editors.values { result.insert(editor.version) }
        return result
    }

    /// Bytes of chunks that the trees lead to, without what changes that wait will do.
    var liveBytes: UInt64 {
        editors.values.reduce(trees.weight.summary.bytes) {
            $0 &+ $1.currentRoot.summary.bytes &- (trees[$1.id]?.weight.summary.bytes ?? 0)
        }
    }

    var pendingBytes: Int {
        editors.values.reduce(trees.weight.pendingBytes) {
            $0 + $1.pendingBytes - (trees[$1.id]?.pendingBytes ?? 0)
        }
    }

    /// Counts what `editor` has come to, and returns how many bytes of memory all editors have taken since
    /// ``noteRelief()``. O(1).
    @inline(__always)
    func grown(by editor: TreeEditor) -> Int {
        let size = editor.pendingBytes + editor.log.buffer.count
        grownBytes += size - editor.countedBytes
        editor.countedBytes = size
        return grownBytes
    }

    /// Notes that editors have given back what they could.
    func noteRelief() {
        for editor in editors.values { _ = grown(by: editor) }
        grownBytes = 0
    }

    /// The chosen editors by their trees' numbers, so that what they write follows from the changes alone.
    func ordered(where isChosen: (TreeEditor) -> Bool) -> [TreeEditor] {
        editors.values.filter(isChosen).sorted { $0.id < $1.id }
    }

    /// Reads the tree with all changes made so far.
    func reader(_ id: UInt64) throws(StoreError) -> TreeReader? {
        guard let editor = knownEditor(id) else { return trees[id]?.reader }
        return try editor.readBack()
    }

    /// How many changes are still to be made.
    var deferredCount: Int { editors.values.reduce(0) { $0 + $1.deferredCount } }

    /// Makes all changes that wait.
    func makeDeferred() throws(StoreError) {
        for editor in ordered(where: { $0.deferredCount > 0 }) { try editor.makeDeferred() }
    }

    /// Makes all changes that wait after the transaction's bytes are complete.
    ///
    /// - Parameter divides: whether a second thread is to make some of them.
    func seal(dividing divides: Bool) throws(StoreError) {
        let editors = ordered(where: { _ in true })
        var parts: [DividedChanges.Part] = []
        if divides {
            for editor in editors { parts += try editor.parts() }
        }
        let changes = DividedChanges(parts, context)
        if !parts.isEmpty {
            context.file.file.perform {
                changes.makeElsewhere()
            } beside: {
                changes.make(in: context)
            }
        }
        let made = try changes.made
        for editor in editors {
            if let made = made[editor.id] { try editor.seal(joining: made) } else { try editor.seal() }
        }
    }

    /// Calls `body` with the entry under `key` as it is with all changes made so far, if there is one; `false` for a tree
    /// that does not exist.
    func find(_ key: ByteView, in id: UInt64, _ body: (Entry) -> Void) throws(StoreError) -> Bool {
        if let editor = knownEditor(id) {
            try editor.find(key, body)
            return true
        }
        guard let reader = trees[id]?.reader else { return false }
        _ = try reader.find(key, using: context.nodes.unpacked, body)
        return true
    }

    /// The editor of a tree that was changed already.
    private func knownEditor(_ id: UInt64) -> TreeEditor? {
        let place = Int(truncatingIfNeeded: id) & (TreeSet.recentCount - 1)
        if let known = unsafe recent[place]?.takeUnretainedValue(), known.id == id { return known }
        guard let editor = editors[id] else { return nil }
        unsafe recent[place] = .passUnretained(editor)
        return editor
    }

    /// The editor of a tree, made when it is first asked for; `nil` for a tree that does not exist.
    func editor(_ id: UInt64) throws(StoreError) -> TreeEditor? {
        if let editor = knownEditor(id) { return editor }
        guard let version = trees[id] else { return nil }
        let editor = try TreeEditor(version, context: context)
        editors[id] = editor
        return editor
    }

    func create(_ name: String, reduction: String) throws(StoreError) -> TreeOperation {
        guard trees.nextID <= Format.maximumTreeID else {
            throw StoreError(
                .limitExceeded,
                "\(context.file.path) has no number left for a new tree. Salvage writes its content into a new file."
            )
        }
        let operation = TreeOperation.create(id: trees.nextID, name: name, reduction: reduction)
        apply(operation)
        return operation
    }

    /// Applies an operation from the log, which may be damaged or already done.
    func apply(_ operation: TreeOperation, from chunk: ChunkReference) throws(StoreError) {
        if case .create(let id, let name, _) = operation {
            if trees[id]?.name == name { return }
            guard id >= trees.nextID else { return }
            guard trees.tree(name) == nil else {
                throw context.file.damaged("operations that make a tree twice", chunk)
            }
        }
        apply(operation)
    }

    func apply(_ operation: TreeOperation) {
        switch operation {
        case .create(let id, let name, let reduction):
            let reader = TreeReader(
                file: context.file, root: .empty, reduction: TreeReduction(reduction, in: reductions))
            trees.insert(TreeVersion(id: id, name: name, reader: reader))
        case .drop(let id):
            trees.remove(id)
            unsafe recent.update(repeating: nil, count: TreeSet.recentCount)
            if let editor = editors.removeValue(forKey: id) { grownBytes -= editor.countedBytes }
        }
    }
}
