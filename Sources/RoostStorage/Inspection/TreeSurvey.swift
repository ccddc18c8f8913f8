import RoostBytes

/// Walks one tree of the newest commit and tells its shape and the chunks that it leads to. Nodes in memory, which
/// hold what was changed since the last checkpoint, are walked like those in the file.
final class TreeSurvey {
    private let file: DataFile
    private let nodeSize: Int
    private let findings: FindingList
    /// Called with every chunk that lives through the tree.
    private let visit: (ChunkReference, FileContent) throws(StoreError) -> Void
    private(set) var shape: TreeShape
    /// What a tree can lead to at most; damage could make a walk of more never end.
    private var bytesLeft: UInt64

    init(
        _ file: DataFile, _ tree: TreeVersion, end: UInt64, nodeSize: Int, _ findings: FindingList,
        visit: @escaping (ChunkReference, FileContent) throws(StoreError) -> Void
    ) {
        self.file = file
        self.nodeSize = nodeSize
        self.findings = findings
        self.visit = visit
        bytesLeft = end
        shape = TreeShape(name: tree.name, reduction: tree.reduction)
    }

    func run(_ root: Root) throws(StoreError) {
        switch root {
        case .empty: break
        case .stored(let child, let level): try walk(child.chunk, level: level, before: .max)
        case .memory(let node): try walk(node)
        }
    }

    private func walk(_ node: MemoryNode) throws(StoreError) {
        if let leaf = node as? LeafNode { return try walk(leaf) }
        guard let branch = node as? BranchNode else { return }
        count(level: node.level, entries: branch.count, isChanged: true)
        measure(branch.storedSize, level: node.level)
        for index in 0..<branch.count {
            let child = branch[index]
            if let memory = child.memory {
                try walk(memory)
            } else {
                try walk(child.stored.chunk, level: node.level - 1, before: .max)
            }
        }
    }

    /// A leaf with pending changes: its entries are those that it will have, its bytes in the file those of the stored
    /// leaf below.
    private func walk(_ leaf: LeafNode) throws(StoreError) {
        let memory = ByteBuffer()
        var base: PageView?
        if let stored = leaf.base {
            base = try read(stored.chunk, level: 0, into: memory)
            if base == nil { return }
        }
        let image = LeafImage()
        do {
            try image.load(leaf, base: base)
            extendLifetime(memory)
        } catch {
            return noteUnreadable("a malformed leaf", at: leaf.base?.chunk.offset ?? 0)
        }
        count(level: 0, entries: image.count, isChanged: true)
        measure(image.page.bytes.count, level: 0)
        try walkEntries(of: image.page, at: leaf.base?.chunk.offset ?? 0)
    }

    private func walk(_ chunk: ChunkReference, level: UInt8, before limit: UInt64) throws(StoreError) {
        guard chunk.offset < limit else { return noteUnreadable("a node that leads in a circle", at: limit) }
        let memory = ByteBuffer()
        defer { extendLifetime(memory) }
        guard let page = try read(chunk, level: level, into: memory) else { return }
        count(level: level, entries: page.count, isChanged: false)
        measure(page.bytes.count, level: level)
        guard level > 0 else { return try walkEntries(of: page, at: chunk.offset) }
        for index in 0..<page.count {
            guard let child = try? page.childChunk(index) else {
                noteUnreadable("a malformed node", at: chunk.offset)
                continue
            }
            try walk(child, level: level - 1, before: chunk.offset)
        }
    }

    /// Counts the chunk of a node; `false` when it can't be one.
    private func note(_ chunk: ChunkReference, level: UInt8) throws(StoreError) -> Bool {
        let isInFile = chunk.offset < StoreOpener.replayedStart
        guard chunk.length <= DataFile.maximumNodeLength, !isInFile || bytesLeft >= UInt64(chunk.length)
        else {
            noteUnreadable("a node that can't be one", at: chunk.offset)
            return false
        }
        if isInFile {
            bytesLeft -= UInt64(chunk.length)
            try visit(chunk, .node)
        }
        shape.levels[Int(level)].storedBytes += UInt64(chunk.length)
        return true
    }

    /// Reads the page of the node at `chunk` into `memory`; `nil` when it can't be read or is not of that level.
    private func read(
        _ chunk: ChunkReference, level: UInt8, into memory: ByteBuffer
    ) throws(StoreError) -> PageView? {
        grow(to: level)
        guard try note(chunk, level: level) else { return nil }
        do throws(StoreError) {
            let (page, leaf) = try file.load(chunk, into: memory)
            if let leaf, try !note(leaf, level: level) { return nil }
            if page.level == level { return page }
            noteUnreadable("a node of another level", at: chunk.offset)
        } catch {
            try findings.add(error, at: chunk.offset, tree: shape.name)
            shape.unreadableNodes += 1
        }
        return nil
    }

    private func noteUnreadable(_ what: String, at offset: UInt64) {
        findings.add(what, at: offset, tree: shape.name)
        shape.unreadableNodes += 1
    }

    private func grow(to level: UInt8) {
        while shape.levels.count <= Int(level) { shape.levels.append(TreeShape.Level()) }
    }

    private func count(level: UInt8, entries: Int, isChanged: Bool) {
        grow(to: level)
        shape.levels[Int(level)].nodes += 1
        shape.levels[Int(level)].changedNodes += isChanged ? 1 : 0
        shape.levels[Int(level)].entries += UInt64(entries)
    }

    private func measure(_ size: Int, level: UInt8) {
        shape.levels[Int(level)].pageBytes += UInt64(size)
        let bin = size * TreeShape.fillBins / nodeSize
        shape.levels[Int(level)].fill[min(bin, TreeShape.fillBins - 1)] += 1
    }

    private func walkEntries(of page: PageView, at offset: UInt64) throws(StoreError) {
        for index in 0..<page.count {
            guard let entry = try? page.entry(index) else {
                return noteUnreadable("a malformed leaf", at: offset)
            }
            shape.keyBytes += UInt64(page.keyLength(index))
            shape.inlineBytes += UInt64(entry.inline.count)
            try count(entry)
        }
    }

    private func count(_ entry: Entry) throws(StoreError) {
        let length: Int
        switch entry.kind {
        case .none:
            length = entry.inline.count
            shape.inlineValues += 1
        case .owned, .shared:
            length = max(Int(entry.chunk.length) - 6, 0)
            shape.values += 1
            shape.valueBytes &+= UInt64(entry.chunk.length)
            guard bytesLeft >= UInt64(entry.chunk.length) else { break }
            bytesLeft -= UInt64(entry.chunk.length)
            try visit(entry.chunk, .value)
        case .borrowed:
            shape.borrowedValues += 1
            return
        }
        shape.valueSizes[Int.bitWidth - length.leadingZeroBitCount] += 1
    }
}
