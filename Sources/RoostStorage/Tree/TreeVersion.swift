/// One tree as of one commit. Immutable.
final class TreeVersion: Weighted, Sendable {
    let id: UInt64
    let name: String
    /// The name of the tree's reduction, empty for none.
    var reduction: String { reader.reduction?.name ?? "" }
    /// Reads it; made once, because everybody who reads takes one, and counting references costs time.
    let reader: TreeReader
    /// Bytes that pending changes take in memory.
    let pendingBytes: Int
    /// Keys in the spans of leaves that the next transaction is to write, as they are full.
    let fullLeaves: [[UInt8]]
    /// What the tree adds to those of a ``TreeTable``; kept, as nodes in memory are still being changed by the
    /// transaction that makes versions of them.
    let weight: TreeWeight

    init(
        id: UInt64, name: String, reader: TreeReader, pendingBytes: Int = 0,
        fullLeaves: [[UInt8]] = []
    ) {
        self.id = id
        self.name = name
        self.reader = reader
        self.pendingBytes = pendingBytes
        self.fullLeaves = fullLeaves
        let isChanged = if case .memory = reader.root { true } else { false }
        weight = TreeWeight(
            count: 1, changed: isChanged ? 1 : 0, summary: reader.root.summary, pendingBytes: pendingBytes)
    }

    var root: Root { reader.root }

    /// The same version in `file`, which is its file under another handle.
    func reopened(_ file: DataFile) -> TreeVersion {
        TreeVersion(
            id: id, name: name,
            reader: TreeReader(file: file, root: root, reduction: reader.reduction),
            pendingBytes: pendingBytes, fullLeaves: fullLeaves)
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
