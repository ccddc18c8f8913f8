import RoostBytes

/// Changes one tree within a transaction: copies what it touches, logs what it does, writes leaves that are full.
///
/// This file says what may be done when, and has all that moves an editor from one ``State`` to another. How a leaf
/// changes and is written is in `TreeEditor+Leaves`, what that does to the tree's shape in `TreeEditor+Shape`.
final class TreeEditor {
    /// What all editors of one transaction share.
    struct Context {
        /// The transaction's number: the owner of the nodes that it may change.
        let owner: UInt64
        let file: DataFile
        /// The size that written nodes aim at, in bytes.
        let nodeSize: Int
        let nodes: NodeWriter

        var output: CommitBuffer { nodes.output }

        /// - Parameter output: `nil` for editors that only make what waits in memory.
        init(owner: UInt64, file: DataFile, output: CommitBuffer?, nodeSize: Int) {
            (self.owner, self.file, self.nodeSize) = (owner, file, nodeSize)
            nodes = NodeWriter(output: output)
        }
    }

    /// What an editor may do.
    ///
    /// ```
    ///              putLater, deleteLater
    ///       open ───────────────────────▶ deferred
    ///        │ ◀───────────────────────── │
    ///        │        makeDeferred        │
    ///        │                            │
    ///        ├─────────── seal ───────────┤
    ///        │ checkpoint                 │
    ///        ▼                            ▼
    ///      stored                       sealed
    /// ```
    ///
    /// | | open | deferred | sealed | stored |
    /// |---|---|---|---|---|
    /// | ``put(_:_:)``, ``delete(_:)``, ``deleteRange(_:_:)`` | yes | make first what waits | – | – |
    /// | ``putLater(_:_:)``, ``deleteLater(_:isKnown:)`` | wait, or are made at once | wait, or make first what waits | – | – |
    /// | ``find(_:_:)`` | yes | makes what waits, if `key` may be among it | – | – |
    /// | ``readBack()`` | yes | makes what waits; nothing waits any more | – | – |
    /// | ``logTail()``, ``writeLeaves(from:budget:)``, ``writeFullLeaves()`` | yes | yes, without what waits | – | – |
    /// | ``checkpoint()`` | stored | – | – | – |
    /// | ``seal()`` | sealed | makes what waits in memory, sealed | – | – |
    /// | ``parts()``, ``seal(joining:)`` | – | what waits, for others to make; what they made, sealed | – | – |
    /// | ``version`` | yes | without what waits | yes | yes |
    ///
    /// What a dash stands for traps: a transaction that has come so far does nothing of the kind.
    private enum State {
        /// All changes are made.
        case open(Waiting)
        /// Some changes stand in the log and are still to be made.
        case deferred(DeferredChanges)
        /// The transaction's bytes are complete: nothing is logged or written any more.
        case sealed
        /// A checkpoint has stored the tree, which then has this root.
        indirect case stored(Root)
    }

    /// Which changes of an open editor may wait.
    private enum Waiting {
        /// Deletions and one put. Before the next put it must have been made, to show whether keys are being appended.
        case onePut
        case any
        /// None, as the transaction reads the tree back.
        case never
    }

    private var state = State.open(.onePut)

    let context: Context
    let id: UInt64
    let name: String
    let reduction: TreeReduction?
    /// The reduction's function, if it is known.
    let function: Reduction?
    let log = OperationEncoder()

    /// The top of the tree as it is now.
    var root: Child
    /// The way to the leaf found last.
    var path = TreePath()
    /// The last leaf, while keys are being appended to it.
    var tail: Tail?
    /// Bytes that pending changes take in memory.
    var pendingBytes: Int
    /// Bytes of memory that ``TreeSet`` has counted of this editor.
    var countedBytes = 0
    /// Keys in the spans of leaves that were found full when they could not be written any more.
    var fullLeaves: [[UInt8]]
    /// Keys that wait, and perhaps others, once entries of the tree are looked up.
    private var deferredKeys: BloomFilter?
    /// What looked an entry up last.
    private var lastLookup: TreeReader?

    init(_ version: TreeVersion, context: Context) throws(StoreError) {
        self.context = context
        id = version.id
        name = version.name
        reduction = version.reader.reduction
        function = reduction?.function
        pendingBytes = version.pendingBytes
        fullLeaves = version.fullLeaves
        switch version.root {
        case .empty:
            root = Child(LeafNode(owner: context.owner))
        case .stored(let child, let level):
            root = Child(try TreeEditor.memory(for: child, level: level, context))
        case .memory(let node):
            root = Child(node)
            return
        }
        if let leaf = root.memory as? LeafNode { pendingBytes += leaf.pendingBytes }
    }

    /// An editor of a part of another one's tree, whose changes wait.
    convenience init(_ part: DividedChanges.Part, context: Context) throws(StoreError) {
        try self.init(part.tree, context: context)
        let changes = DeferredChanges(start: log.mark)
        log.repeatAll(part.operations)
        changes.add(endingAt: log.buffer.count, isKnown: part.deletesKnown)
        state = .deferred(changes)
    }

    // MARK: What there is

    /// The tree as it is now, to be published.
    var version: TreeVersion {
        TreeVersion(id: id, name: name, reader: reader(), pendingBytes: pendingBytes, fullLeaves: fullLeaves)
    }

    /// The tree's root without what waits.
    var currentRoot: Root {
        if case .stored(let root) = state { return root }
        let node = top
        if let leaf = node as? LeafNode, leaf.base == nil, leaf.delta.count == 0 { return .empty }
        return .memory(node)
    }

    /// The root's node.
    var top: MemoryNode {
        guard let node = root.memory else { preconditionFailure("an edited tree's root is in memory") }
        return node
    }

    /// Reads the tree without what waits; for `writer`, until it changes the tree.
    func reader(for writer: UInt64 = 0) -> TreeReader {
        TreeReader(file: context.file, root: currentRoot, reduction: reduction, writer: writer)
    }

    /// How many changes are still to be made.
    var deferredCount: Int {
        if case .deferred(let changes) = state { changes.count } else { 0 }
    }

    /// Whether nothing can be written any more.
    var isSealed: Bool {
        if case .sealed = state { true } else { false }
    }

    // MARK: Changes that are made at once

    /// Sets the entry under `key`. O(log n).
    func put(_ key: ByteView, _ entry: Entry) throws(StoreError) {
        try makeDeferred()
        if case .open(.onePut) = state { state = .open(.any) }
        if try append(key, entry) { return }
        let leaf = try descend(key)
        try logTail(before: leaf)
        log.put(key, entry)
        let isLast = try put(key, entry, in: leaf)
        if isLast { startTail(leaf, key, at: path) }
        try writeIfFull(leaf, with: key)
    }

    /// Deletes `key`, if it is there. O(log n).
    func delete(_ key: ByteView) throws(StoreError) {
        try makeDeferred()
        if try deleteUnlogged(key) { log.delete(key) }
    }

    /// Deletes the keys from `lower` up to, not including, `upper`; `nil` is open. Subtrees that lie within the range
    /// are dropped whole, so it is O(log n) plus the entries of two leaves.
    func deleteRange(_ lower: [UInt8]?, _ upper: [UInt8]?) throws(StoreError) {
        try makeDeferred()
        try closeTail()
        log.deleteRange(lower, upper)
        while try dropCovered(lower, upper) {}
        try deleteOneByOne(lower, upper)
    }

    // MARK: Changes that may wait

    /// Sets the entry under `key`, at the latest when the transaction commits.
    func putLater(_ key: ByteView, _ entry: Entry) throws(StoreError) {
        if try append(key, entry) { return }
        if case .deferred(let changes) = state, !changes.takesPut {
            // Whether keys are being appended shows now.
            try move(to: .open(.any))
            if try append(key, entry) { return }
        }
        guard let changes = waiting(for: key) else { return try put(key, entry) }
        log.put(key, entry)
        changes.add(endingAt: log.buffer.count, isPut: true)
    }

    /// Deletes `key`, if it is there, at the latest when the transaction commits.
    ///
    /// - Parameter isKnown: that it is there, and that its entry owns no value. The leaf below then need not be read.
    func deleteLater(_ key: ByteView, isKnown: Bool) throws(StoreError) {
        guard let changes = waiting(for: key) else { return try delete(key) }
        log.delete(key)
        changes.add(endingAt: log.buffer.count, isKnown: isKnown)
    }

    /// The changes that wait, for a change of `key` to wait behind them; `nil` where it must be made at once.
    @inline(__always)
    private func waiting(for key: ByteView) -> DeferredChanges? {
        let changes: DeferredChanges
        switch state {
        case .open(.never), .sealed, .stored: return nil
        case .open(let waiting):
            guard isClearOfTail(key) else { return nil }
            changes = DeferredChanges(start: log.mark, puts: waiting == .onePut ? 1 : .max)
            state = .deferred(changes)
        case .deferred(let known):
            guard isClearOfTail(key) else { return nil }
            changes = known
        }
        deferredKeys?.add(key)
        return changes
    }

    /// Makes the changes that wait.
    @inline(__always)
    func makeDeferred() throws(StoreError) {
        switch state {
        case .open: return
        case .deferred: try move(to: .open(.onePut))
        case .sealed, .stored: preconditionFailure("the transaction's bytes are complete")
        }
    }

    /// Makes the changes that wait after the transaction's bytes are complete: no leaf is written any more.
    func seal() throws(StoreError) {
        if case .stored = state { preconditionFailure("what is stored has nothing to be made") }
        if Failpoint.forgottenDeferral.isActive { state = .sealed }
        try move(to: .sealed)
    }

    /// What waits, in parts that can be made by several threads after the transaction's bytes are complete; none where it is to be made by
    /// ``seal()``.
    func parts() throws(StoreError) -> [DividedChanges.Part] {
        guard case .deferred(let changes) = state, !Failpoint.forgottenDeferral.isActive else { return [] }
        try logTail()
        return try parts(of: changes)
    }

    /// Takes what the parts have become in the place of what waits.
    func seal(joining made: [DividedChanges.Made]) throws(StoreError) {
        guard case .deferred = state else { preconditionFailure("only what waits is divided") }
        state = .sealed
        try join(made)
    }

    /// Enters `next`, and makes there what waits. Where that fails all of it waits still: what was made already can be made again.
    @inline(never)
    private func move(to next: State) throws(StoreError) {
        guard case .deferred(let changes) = state else { return state = next }
        try logTail()
        state = next
        var opensTail = false
        if case .open(.any) = next { opensTail = true }
        // Nothing is logged below, so the log's bytes stay where they are.
        do throws(StoreError) {
            try changes.forEach(in: log) { (operation) throws(StoreError) in
                switch operation {
                case .put(let key, let entry): try putUnlogged(key, entry, opensTail: opensTail)
                case .delete(let key): try deleteUnlogged(key, isKnown: changes.deletesKnown)
                // Made when it was logged, in between.
                case .appendLeaf: break
                case .deleteRange: preconditionFailure("ranges are deleted at once")
                }
            }
        } catch {
            // What is appended from now on is logged behind what waits, and may not be made before it.
            tail = nil
            changes.noteAttempt()
            state = .deferred(changes)
            throw error
        }
    }

    // MARK: Reading

    /// Calls `body` with the entry under `key` as it is with the changes made so far, if there is one; its views are valid
    /// during the call. Changes of other keys go on waiting.
    func find(_ key: ByteView, _ body: (Entry) -> Void) throws(StoreError) {
        // No key of the tree is greater than the last one that was appended, and none waits that is.
        if let tail, tail.lastKey.view.compare(key) < 0 { return }
        if deferredKeys?.mayContain(key) != false {
            try makeDeferred()
            deferredKeys = BloomFilter()
        }
        _ = try lookup().find(key, using: context.nodes.unpacked, body)
    }

    /// Reads the tree as it stands, while its root is the same node.
    private func lookup() -> TreeReader {
        let node = top
        if let lastLookup, case .memory(let known) = lastLookup.root, known === node { return lastLookup }
        let reader = TreeReader(
            file: context.file, root: .memory(node), reduction: nil, writer: context.owner)
        lastLookup = reader
        return reader
    }

    /// Reads the tree with all changes, until the transaction changes it. From now on each change is made at once: who reads
    /// a tree does so again.
    func readBack() throws(StoreError) -> TreeReader {
        try makeDeferred()
        state = .open(.never)
        return reader(for: context.owner)
    }

    // MARK: Writing

    /// Writes leaves with pending changes, in key order from `position` on, until `budget` bytes of changes are no longer
    /// pending.
    ///
    /// - Returns: where to go on, or `nil` when the end of the tree was reached.
    func writeLeaves(from position: [UInt8], budget: inout Int) throws(StoreError) -> [UInt8]? {
        requireWritable()
        try closeTail()
        var position = position
        while budget > 0 {
            guard let leaf = firstLeaf(from: position, where: { $0.delta.count > 0 }) else { return nil }
            let next = path.upperFence
            let before = pendingBytes
            try rewrite(leaf)
            budget -= max(before - pendingBytes, 1)
            guard let next else { return nil }
            position = next
        }
        return position
    }

    /// Writes the leaves that earlier transactions found full when they could not write any more.
    func writeFullLeaves() throws(StoreError) {
        requireWritable()
        for key in fullLeaves {
            try key.withView { (key) throws(StoreError) in try writeIfFull(try descend(key), with: key) }
        }
        fullLeaves = []
    }

    /// Writes the branch nodes and returns the root as it is stored now.
    ///
    /// Leaves that have changes pending again keep them: the stored tree then holds those leaves as they were written
    /// last, and replaying the log since before that brings them up to date.
    func checkpoint() throws(StoreError) -> Root {
        guard case .open = state else { preconditionFailure("a checkpoint holds all changes") }
        let (root, isClean) = try store()
        if isClean { pendingBytes = 0 }
        state = .stored(isClean ? root : .memory(top))
        return root
    }

    private func requireWritable() {
        switch state {
        case .open, .deferred: return
        case .sealed, .stored: preconditionFailure("the transaction's bytes are complete")
        }
    }
}
