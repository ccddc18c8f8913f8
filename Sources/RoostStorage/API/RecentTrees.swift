import Synchronization

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
