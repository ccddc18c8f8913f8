import RoostFile

/// Everything a simulated disk consists of, as one value: a copy is a disk that goes its own way.
///
/// Nothing here depends on the order of a dictionary or on memory addresses, so that one seed and one sequence of
/// calls give one result, in every process.
struct DiskState: Sendable {
    static let root: NodeID = 1

    var nodes: [NodeID: FileNode]
    var names: Namespace
    var nextNode: NodeID
    /// The number of the next unsynced change.
    var nextSequence: UInt64 = 1
    var generator: SeededGenerator
    let tearing: Tearing

    /// The locks that are held, by what tells one holding from the next.
    var locks: [NodeID: UInt64] = [:]
    var faults = FaultPlan()
    var counts = CallCounts()
    var trace = TraceHash()
    var hasCrashed = false
    /// The change (as ``CallCounts/changes`` counts them) at which the power goes.
    var crashPoint: Int?
    private var endedUses = 0

    init(generator: SeededGenerator, tearing: Tearing) {
        self.generator = generator
        self.tearing = tearing
        nodes = [Self.root: FileNode(isDirectory: true)]
        names = Namespace()
        nextNode = Self.root + 1
    }

    mutating func takeSequence() -> UInt64 {
        defer { nextSequence += 1 }
        return nextSequence
    }

    mutating func add(_ node: FileNode) -> NodeID {
        defer { nextNode += 1 }
        nodes[nextNode] = node
        return nextNode
    }

    /// Free pages under the plan's capacity, `nil` for any number.
    var freePages: Int? {
        guard let capacity = faults.capacity else { return nil }
        let used = nodes.values.reduce(0) { sum, node in
            node.links + node.openHandles > 0 ? sum + node.current.pageCount : sum
        }
        return max(0, Int(clamping: capacity) / FileImage.pageSize - used)
    }

    /// Notes that a handle or a name went, and now and then drops the nodes that nothing can reach any more.
    mutating func endUse() {
        endedUses += 1
        if endedUses < 2 * nodes.count { return }
        endedUses = 0
        let mentioned = names.mentionedNodes
        nodes = nodes.filter { $0.value.openHandles > 0 || $0.key == Self.root || mentioned.contains($0.key) }
    }
}
