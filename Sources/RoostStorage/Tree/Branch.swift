import RoostBytes

/// A branch node wherever it is, for walks that are not hot.
enum Branch {
    case memory(BranchNode)
    case stored(PageView, ChunkReference)

    var count: Int {
        switch self {
        case .memory(let node): node.count
        case .stored(let page, _): page.count
        }
    }

    func childIndex(_ key: ByteView) -> Int {
        switch self {
        case .memory(let node): node.separators.childIndex(key)
        case .stored(let page, _): page.childIndex(key)
        }
    }

    /// The last child that may hold keys less than `key`.
    func childIndex(below key: ByteView) -> Int {
        switch self {
        case .memory(let node): node.separators.childIndex(below: key)
        case .stored(let page, _): max(page.search(key).index - 1, 0)
        }
    }

    /// Where child `index` begins; meaningless for the first.
    func separator(_ index: Int) -> [UInt8] {
        switch self {
        case .memory(let node): node.separators.key(index).array
        case .stored(let page, _): page.key(index)
        }
    }

    /// How many entries there are below some of the children.
    func entries(in range: Range<Int>, _ file: DataFile) throws(StoreError) -> UInt64 {
        switch self {
        case .memory(let node): return node.entries(in: range)
        case .stored(let page, let chunk):
            return try file.reading(chunk) { () throws(MalformedBytes) in
                var entries: UInt64 = 0
                for index in range { entries = entries &+ (try page.childReduction(index).count) }
                return entries
            }
        }
    }

    func child(_ index: Int, in file: DataFile) throws(StoreError) -> Child {
        switch self {
        case .memory(let node): node[index]
        case .stored(let page, let chunk): Child(try Branch.child(index, of: page, chunk, in: file))
        }
    }

    /// Where a child is, without counting a reference to it.
    func handle(_ index: Int, in file: DataFile) throws(StoreError) -> NodeHandle {
        switch self {
        case .memory(let node): node.handle(index)
        case .stored(let page, let chunk): .stored(try Branch.child(index, of: page, chunk, in: file).chunk)
        }
    }

    private static func child(
        _ index: Int, of page: PageView, _ chunk: ChunkReference, in file: DataFile
    ) throws(StoreError) -> StoredChild {
        let child = try file.reading(chunk) { () throws(MalformedBytes) in try page.child(index) }
        guard child.chunk.offset < chunk.offset else {
            throw file.damaged("a node that leads in a circle", chunk)
        }
        return child
    }
}

extension NodeHandle {
    init(_ child: Child) {
        self = child.memory.map { .memory($0) } ?? .stored(child.stored.chunk)
    }
}

extension DataFile {
    /// What the node at `handle` is: a branch node, or `nil` for a leaf.
    func branch(
        _ handle: NodeHandle, _ pin: borrowing EpochReclaimer.Pin
    ) throws(StoreError) -> Branch? {
        if let memory = unsafe handle.memory {
            let node = unsafe memory.takeUnretainedValue()
            return node.level == 0 ? nil : .memory(unsafe unsafeDowncast(node, to: BranchNode.self))
        }
        let page = try page(handle.chunk, pin)
        guard page.level > 0 else { return nil }
        guard page.count > 0 else { throw damaged("a branch node without children", handle.chunk) }
        return .stored(page, handle.chunk)
    }
}
