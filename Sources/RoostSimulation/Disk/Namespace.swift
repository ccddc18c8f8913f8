/// The number of a file or directory; never used twice on a disk.
typealias NodeID = UInt64

/// A name in a directory.
struct Entry: Hashable, Sendable {
    var directory: NodeID
    var name: String
}

/// A change of one directory entry that no directory sync has covered.
struct EntryChange: Sendable {
    /// The change's place among all changes on the disk.
    var sequence: UInt64
    var entry: Entry
    /// What the name stands for afterwards; `nil` for nothing.
    var node: NodeID?
    /// The change without which this one cannot survive: a renamed file is never without a name.
    var requires: UInt64?
    /// Whether this change survives exactly when the required one does: a directory never has two names.
    var isTied = false
}

/// Which names stand for which files, now and after a crash.
struct Namespace: Sendable {
    private(set) var current: [Entry: NodeID] = [:]
    private(set) var durable: [Entry: NodeID] = [:]
    private(set) var unsynced: [EntryChange] = []

    subscript(entry: Entry) -> NodeID? { current[entry] }

    /// Names and nodes in a directory, in the order of the names.
    func entries(in directory: NodeID) -> [(name: String, node: NodeID)] {
        current.filter { $0.key.directory == directory }
            .map { (name: $0.key.name, node: $0.value) }
            .sorted { $0.name < $1.name }
    }

    /// All nodes that have, had or may get a name.
    var mentionedNodes: Set<NodeID> {
        Set(current.values).union(durable.values).union(unsynced.compactMap(\.node))
    }

    mutating func apply(_ change: EntryChange) {
        current[change.entry] = change.node
        unsynced.append(change)
    }

    /// Gives a node a name that no crash can take.
    mutating func install(_ node: NodeID, at entry: Entry) {
        current[entry] = node
        durable[entry] = node
        unsynced.removeAll { $0.entry == entry }
    }

    /// All unsynced changes in a directory reach the medium, and those in others that must come with them.
    mutating func sync(_ directory: NodeID) {
        let directories = directories(boundTo: directory)
        for change in unsynced where directories.contains(change.entry.directory) {
            durable[change.entry] = change.node
        }
        unsynced.removeAll { directories.contains($0.entry.directory) }
    }

    /// A directory, and all others with changes that must be durable when those in it are.
    ///
    /// - Parameter eitherWay: Whether also those with changes that need one in it to be durable.
    private func directories(boundTo directory: NodeID, eitherWay: Bool = false) -> Set<NodeID> {
        var found: Set = [directory]
        var isComplete = false
        while !isComplete {
            isComplete = true
            for change in unsynced {
                guard let requires = change.requires,
                    let first = unsynced.first(where: { $0.sequence == requires })?.entry.directory
                else { continue }
                let second = change.entry.directory
                if found.contains(second), found.insert(first).inserted { isComplete = false }
                if change.isTied || eitherWay, found.contains(first), found.insert(second).inserted {
                    isComplete = false
                }
            }
        }
        return found
    }

    /// Each unsynced change in a directory, and in others that files were renamed between it and, reaches the medium or is
    /// forgotten; `current` shows them all the same.
    ///
    /// What is lost elsewhere is told by the sync of that directory: systems keep such errors by the inode.
    mutating func failSync(_ directory: NodeID, _ dice: inout CrashDice) {
        let directories = directories(boundTo: directory, eitherWay: true)
        let isDecided = { (change: EntryChange) in directories.contains(change.entry.directory) }
        durable = survivors(of: unsynced.filter(isDecided), &dice)
        unsynced.removeAll(where: isDecided)
    }

    /// What the medium may hold after a crash now.
    func survivors(_ dice: inout CrashDice) -> [Entry: NodeID] { survivors(of: unsynced, &dice) }

    private func survivors(of changes: [EntryChange], _ dice: inout CrashDice) -> [Entry: NodeID] {
        var entries = durable
        var lost: Set<UInt64> = []
        for change in changes {
            let isPossible = change.requires.map { !lost.contains($0) } ?? true
            if isPossible, change.isTied || dice.survives(change.sequence) {
                entries[change.entry] = change.node
            } else {
                lost.insert(change.sequence)
            }
        }
        return entries
    }

    /// The name space after a crash that left `entries`.
    init(survivors entries: [Entry: NodeID] = [:]) {
        current = entries
        durable = entries
    }
}
