import Synchronization

/// The whole store as of one commit: never changes, never waits, and nobody waits for it.
///
/// Take as many as you like, use each from any thread, keep it as long as you need; what it costs is that the file it
/// reads is not given back after a compaction until it goes.
public final class Snapshot: Sendable {
    let state: StoreState
    private let reductions: [String: Reduction]

    init(state: StoreState, reductions: [String: Reduction]) {
        self.state = state
        self.reductions = reductions
    }

    /// The commit that the snapshot shows.
    public var commit: Commit { Commit(state.record) }

    /// The names of all trees, sorted.
    public var treeNames: [String] { state.identifiers.keys.sorted() }

    /// The tree `name`, `nil` when there is none.
    public func tree(_ name: String) -> Tree? {
        state.identifiers[name].map { Tree(id: $0, name: name) }
    }

    /// The tree as of this snapshot, to be read.
    ///
    /// - Throws: ``StoreError/Code/notFound`` when the snapshot has no such tree.
    public subscript(tree: Tree) -> TreeView {
        get throws(StoreError) {
            guard let version = state.trees[tree.id] else { throw tree.missing(in: state.file.path) }
            return TreeView(
                reader: TreeReader(
                    file: state.file, root: version.root, reduction: reductions[version.reduction]))
        }
    }

    /// The value under `key`, `nil` when there is none. For more than a few reads, keep `snapshot[tree]`.
    public subscript(tree: Tree, key: Key) -> [UInt8]? {
        get throws(StoreError) { try self[tree].value(key) }
    }
}

/// One commit of a store.
public struct Commit: Hashable, Sendable {
    /// Counts the store's commits from 1.
    public let number: UInt64
    /// When it was made, as the clock said: seconds since 1970.
    public let time: Double
    /// Where its record stands in the file.
    let offset: UInt64

    init(_ record: CommitRecord) {
        number = record.number
        time = Double(record.time) / 1_000_000
        offset = record.offset
    }
}
