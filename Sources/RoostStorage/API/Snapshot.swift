import Synchronization

/// What a snapshot shows, for as long as some snapshot shows it.
///
/// Snapshots are not referred to weakly themselves: an object that has ever been counts its references at half the speed, and
/// theirs are counted whenever something is read.
package struct WeakSnapshot {
    private weak var state: StoreState?

    package init(_ snapshot: Snapshot) { state = snapshot.state }

    /// A snapshot of it; `nil` once there is none.
    package var snapshot: Snapshot? { state.map { Snapshot(state: $0) } }

    /// Whether there is none any more.
    package var isGone: Bool { state == nil }

    /// Whether it is what `snapshot` shows.
    package func isOf(_ snapshot: Snapshot) -> Bool { state === snapshot.state }
}

/// The whole store as of one commit: never changes, never waits, and nobody waits for it.
///
/// Take as many as you like, use each from any thread, keep it as long as you need; what it costs is that the file it
/// reads is not given back after a compaction until it goes.
public final class Snapshot: Sendable {
    let state: StoreState
    /// Its length also keeps the counted references of two snapshots, made one after another, out of one cache line.
    private let recentTrees = RecentTrees()

    /// Whether the layer above has noted that it is in use, which it does once.
    package let isKnown = Atomic<Bool>(false)

    private let companion: Mutex<Companion>

    private struct Companion {
        var object: (any AnyObject & Sendable)?
        /// Whether no newer snapshot has been published.
        var isNewest: Bool
    }

    /// - Parameter isNewest: whether the snapshot is going to be published.
    init(state: StoreState, isNewest: Bool = false) {
        self.state = state
        companion = Mutex(Companion(isNewest: isNewest))
    }

    /// What goes with the snapshot for as long as there is no newer one; `nil` where nothing does yet.
    package func companion<T: AnyObject & Sendable>(_ type: T.Type = T.self) -> T? {
        let object = companion.withLock { $0.object }
        return object as? T
    }

    /// As ``companion(_:)``, made by `make` where there is none yet. It may keep the snapshot, which lets go of it when a newer
    /// one is published; what is made later than that does not go with the snapshot.
    package func companion<T: AnyObject & Sendable>(_ make: () -> T) -> T {
        companion.withLock { companion in
            if let known = companion.object as? T { return known }
            let made = make()
            if companion.isNewest { companion.object = made }
            return made
        }
    }

    /// Says that there is a newer snapshot, or will be none any more.
    func retire() {
        let object = companion.withLock { companion in
            companion.isNewest = false
            return companion.object.take()
        }
        // Freed outside the lock.
        _ = consume object
    }

    /// The commit that the snapshot shows.
    public var commit: Commit { Commit(state.record) }

    /// The names of all trees, in the order of their bytes. O(n).
    public var treeNames: [String] { state.trees.sortedNames }

    /// The tree `name`, `nil` when there is none.
    public func tree(_ name: String) -> Tree? { state.trees.tree(name) }

    /// The tree as of this snapshot, to be read.
    ///
    /// - Throws: ``StoreError/Code/notFound`` when the snapshot has no such tree, ``StoreError/Code/closed`` when the store was
    ///   closed before the snapshot was taken.
    public subscript(tree: Tree) -> TreeView {
        get throws(StoreError) {
            if let reader = unsafe recentTrees.reader(of: tree.id) {
                return unsafe TreeView(reader, of: self)
            }
            guard let version = state.trees[tree.id] else {
                try state.checkOpen()
                throw tree.missing(in: state.file.path)
            }
            recentTrees.note(version)
            return unsafe TreeView(.passUnretained(version.reader), of: self)
        }
    }

    /// The value under `key`, `nil` when there is none. For more than a few reads, keep `snapshot[tree]`.
    public subscript(tree: Tree, key: Key) -> [UInt8]? {
        get throws(StoreError) { try self[tree].value(key) }
    }
}
