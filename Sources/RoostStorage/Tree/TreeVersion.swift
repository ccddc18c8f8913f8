/// One tree as of one commit. Immutable.
final class TreeVersion: Sendable {
    let id: UInt64
    let name: String
    /// The name of the tree's reduction, empty for none.
    let reduction: String
    let root: Root
    /// Bytes that pending changes take in memory.
    let pendingBytes: Int

    init(id: UInt64, name: String, reduction: String, root: Root, pendingBytes: Int = 0) {
        self.id = id
        self.name = name
        self.reduction = reduction
        self.root = root
        self.pendingBytes = pendingBytes
    }
}

/// The top of a tree.
enum Root: Sendable {
    case empty
    case stored(StoredChild, level: UInt8)
    case memory(MemoryNode)

    var summary: Summary {
        switch self {
        case .empty: Summary()
        case .stored(let child, _): child.summary
        case .memory(let node): node.summary
        }
    }

    var handle: NodeHandle? {
        switch self {
        case .empty: nil
        case .stored(let child, _): .stored(child.chunk)
        case .memory(let node): .memory(node)
        }
    }
}
