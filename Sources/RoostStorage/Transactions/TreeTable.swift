/// All trees of a store as of one moment, by number and by name. Copies share what they have in common, so that a commit
/// costs what it touches, however many trees there are.
struct TreeTable: Sendable {
    private var versions = PersistentMap<UInt64, TreeVersion>()
    private var names = PersistentMap<Key, Tree>()
    /// The number of the tree that is made next. Numbers are never used twice.
    private(set) var nextID: UInt64

    /// No trees.
    init(nextID: UInt64) { self.nextID = nextID }

    /// The `versions`, which have different numbers, below `nextID`, and different names.
    init(_ versions: some Sequence<TreeVersion>, nextID: UInt64) {
        self.nextID = nextID
        for version in versions { insert(version) }
    }

    /// The same trees in `file`, which is theirs under another handle. O(n).
    func reopened(_ file: DataFile) -> TreeTable { TreeTable(lazy.map { $0.reopened(file) }, nextID: nextID) }

    /// What the trees come to. O(1).
    var weight: TreeWeight { versions.weight }
    var count: Int { weight.count }

    subscript(id: UInt64) -> TreeVersion? {
        TreeVisits.note(1)
        return versions[id]
    }

    /// The tree of that name; names that differ in bytes are different.
    func tree(_ name: String) -> Tree? { names[Key(name)] }

    /// Names in the order of their bytes. O(n).
    var sortedNames: [String] {
        TreeVisits.note(count)
        return names.map(\.name)
    }

    /// Adds a tree, or puts it in the place of another version of itself.
    mutating func insert(_ version: TreeVersion) {
        TreeVisits.note(1)
        if versions[version.id] == nil {
            names.set(Tree(id: version.id, name: version.name), for: Key(version.name))
            nextID = Swift.max(nextID, version.id + 1)
        }
        versions.set(version, for: version.id)
    }

    mutating func remove(_ id: UInt64) {
        guard let version = versions[id] else { return }
        names.remove(Key(version.name))
        versions.remove(id)
    }

    /// The tree with the lowest number, from `id` on, that has changes in memory. O(log n).
    func firstChanged(from id: UInt64) -> TreeVersion? {
        TreeVisits.note(1)
        return versions.first(from: id) { $0.changed > 0 }
    }
}

/// In the order of the trees' numbers.
extension TreeTable: Sequence {
    func makeIterator() -> PersistentMap<UInt64, TreeVersion>.Iterator {
        TreeVisits.note(count)
        return versions.makeIterator()
    }
}

/// What trees come to.
struct TreeWeight: AdditiveArithmetic, Sendable {
    /// How many there are.
    var count = 0
    /// How many of them have changes in memory.
    var changed = 0
    /// Their entries, and the bytes of the chunks that they lead to.
    var summary = Summary()
    /// Bytes that pending changes take in memory.
    var pendingBytes = 0

    static var zero: TreeWeight { TreeWeight() }

    static func + (a: TreeWeight, b: TreeWeight) -> TreeWeight {
        TreeWeight(
            count: a.count + b.count, changed: a.changed + b.changed, summary: a.summary + b.summary,
            pendingBytes: a.pendingBytes + b.pendingBytes)
    }

    static func - (a: TreeWeight, b: TreeWeight) -> TreeWeight {
        TreeWeight(
            count: a.count - b.count, changed: a.changed - b.changed, summary: a.summary - b.summary,
            pendingBytes: a.pendingBytes - b.pendingBytes)
    }
}

extension Tree: Weighted {
    var weight: Int { 1 }
}
