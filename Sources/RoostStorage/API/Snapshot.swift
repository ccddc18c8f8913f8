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

// MARK: - PublishedSnapshot

/// The newest commit's snapshot, one for each of a few threads: taking and releasing it counts references, and where two
/// threads count the same ones, each waits for the other's cache line. With one snapshot for all, two threads read
/// little more than one alone.
///
/// An object of its own, so that the commits' queue can publish without a weak reference to the store: an object that has
/// ever had one counts its references at half the speed.
@safe final class PublishedSnapshot: Sendable {
    private static let count = 8
    private let threadNumber = ThreadNumber()
    /// Lives as long as this object.
    private nonisolated(unsafe) let places: UnsafeMutablePointer<Place>

    /// The snapshot of some threads, in a cache line of its own.
    private struct Place: ~Copyable {
        let newest: Mutex<Snapshot>
        private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

        init(_ snapshot: Snapshot) { newest = Mutex(snapshot) }
    }

    init(_ state: StoreState) {
        unsafe places = .allocate(capacity: PublishedSnapshot.count)
        for index in 0..<PublishedSnapshot.count {
            unsafe (places + index).initialize(to: Place(Snapshot(state: state, isNewest: true)))
        }
    }

    deinit {
        for index in 0..<PublishedSnapshot.count { unsafe places[index].newest.withLock { $0.retire() } }
        unsafe places.deinitialize(count: PublishedSnapshot.count)
        unsafe places.deallocate()
    }

    var snapshot: Snapshot {
        unsafe places[threadNumber.current & (PublishedSnapshot.count - 1)].newest.withLock { $0 }
    }

    /// Puts `state` in the place of what was newest.
    func publish(_ state: StoreState) {
        var snapshots = (0..<PublishedSnapshot.count).map { _ in Snapshot(state: state, isNewest: true) }
        swap(&snapshots, from: 0)
        for old in snapshots { old.retire() }
        // What only the old ones still held is freed outside the locks, where no reader waits for it.
        _ = consume snapshots
    }

    /// Exchanges the snapshots from `index` on while holding the locks of all before: nobody sees the new commit before
    /// everybody does.
    private func swap(_ snapshots: inout [Snapshot], from index: Int) {
        guard index < snapshots.count else { return }
        unsafe places[index].newest.withLock {
            Swift.swap(&$0, &snapshots[index])
            swap(&snapshots, from: index + 1)
        }
    }
}

// MARK: - RecentTrees

/// The trees that a snapshot was asked for last. They are found again without counting a reference to what the snapshots
/// of all threads share, where each thread would wait for the others' cache lines.
///
/// Any thread may use it. What is noted must live as long as it does.
@safe struct RecentTrees: ~Copyable, Sendable {
    private typealias Slot = Atomic<Unmanaged<TreeVersion>?>

    // A tree has one place, by its number. A collection has three trees with numbers that follow each other.
    private let first = unsafe Slot(nil)
    private let second = unsafe Slot(nil)
    private let third = unsafe Slot(nil)
    private let fourth = unsafe Slot(nil)
    private let fifth = unsafe Slot(nil)
    private let sixth = unsafe Slot(nil)
    private let seventh = unsafe Slot(nil)
    private let eighth = unsafe Slot(nil)

    /// What reads the tree of that number; `nil` where it is not known. O(1).
    @inline(__always)
    func reader(of id: UInt64) -> Unmanaged<TreeReader>? {
        unsafe version(at: id)?._withUnsafeGuaranteedRef { version in
            unsafe version.id == id ? Unmanaged.passUnretained(version.reader) : nil
        }
    }

    @inline(__always)
    private func version(at id: UInt64) -> Unmanaged<TreeVersion>? {
        switch id % 8 {
        case 0: unsafe first.load(ordering: .acquiring)
        case 1: unsafe second.load(ordering: .acquiring)
        case 2: unsafe third.load(ordering: .acquiring)
        case 3: unsafe fourth.load(ordering: .acquiring)
        case 4: unsafe fifth.load(ordering: .acquiring)
        case 5: unsafe sixth.load(ordering: .acquiring)
        case 6: unsafe seventh.load(ordering: .acquiring)
        default: unsafe eighth.load(ordering: .acquiring)
        }
    }

    /// Remembers a tree, perhaps in the place of another one.
    func note(_ version: TreeVersion) {
        let tree = unsafe Unmanaged.passUnretained(version)
        switch version.id % 8 {
        case 0: unsafe first.store(tree, ordering: .releasing)
        case 1: unsafe second.store(tree, ordering: .releasing)
        case 2: unsafe third.store(tree, ordering: .releasing)
        case 3: unsafe fourth.store(tree, ordering: .releasing)
        case 4: unsafe fifth.store(tree, ordering: .releasing)
        case 5: unsafe sixth.store(tree, ordering: .releasing)
        case 6: unsafe seventh.store(tree, ordering: .releasing)
        default: unsafe eighth.store(tree, ordering: .releasing)
        }
    }
}
