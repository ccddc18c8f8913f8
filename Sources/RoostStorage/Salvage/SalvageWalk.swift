import RoostBytes

/// Walks a stored tree that may be damaged anywhere: gives what can be read and says what can't.
struct SalvageWalk {
    let file: DataFile
    let meter: ProgressMeter
    /// The parts of the tree that are wanted; `nil` for all.
    let wanted: KeySpans?
    /// Called with each readable leaf, and the part of its span that is wanted.
    let leaf: (PageView, ChunkReference, [KeySpan]) throws(StoreError) -> Void
    /// Called where a node can't be read, with the part of its span that is wanted.
    let loss: (StoredChild, [KeySpan]) throws(StoreError) -> Void
    /// Where the nodes that were read stand, if that is asked for.
    var visited: Set<UInt64>?
    /// No tree's nodes take more than the file.
    private var bytesLeft: UInt64

    init(
        file: DataFile, end: UInt64, meter: ProgressMeter, wanted: KeySpans?,
        leaf: @escaping (PageView, ChunkReference, [KeySpan]) throws(StoreError) -> Void,
        loss: @escaping (StoredChild, [KeySpan]) throws(StoreError) -> Void
    ) {
        self.file = file
        self.meter = meter
        self.wanted = wanted
        self.leaf = leaf
        self.loss = loss
        bytesLeft = end
    }

    mutating func walk(_ root: Root) throws(StoreError) {
        guard case .stored(let child, let level) = root else { return }
        try walk(child, level, KeySpan(), before: .max)
    }

    mutating func walk(
        _ child: StoredChild, _ level: UInt8, _ span: KeySpan, before limit: UInt64
    ) throws(StoreError) {
        let parts = wanted.map { $0.intersections(span).map(\.span) } ?? [span]
        guard !parts.isEmpty else { return }
        let memory = ByteBuffer()
        defer { extendLifetime(memory) }
        guard let page = read(child.chunk, before: limit, into: memory) else { return try loss(child, parts) }
        visited?.insert(child.chunk.offset)
        try meter.advance(UInt64(child.chunk.length))
        guard page.level == level,
            PageCheck(page: page, lower: span.lower, upper: span.upper).fault() == nil
        else { return try loss(child, parts) }
        if level == 0 { return try leaf(page, child.chunk, parts) }
        for index in 0..<page.count {
            guard let next = try? page.child(index) else { continue }
            let lower = index == 0 ? span.lower : page.key(index)
            let upper = index + 1 < page.count ? page.key(index + 1) : span.upper
            try walk(next, level - 1, KeySpan(lower: lower, upper: upper), before: child.chunk.offset)
        }
    }

    private mutating func read(
        _ chunk: ChunkReference, before limit: UInt64, into memory: ByteBuffer
    ) -> PageView? {
        guard chunk.offset < limit, chunk.length <= DataFile.maximumNodeLength,
            UInt64(chunk.length) <= bytesLeft
        else { return nil }
        bytesLeft -= UInt64(chunk.length)
        return try? file.load(chunk, into: memory).page
    }
}
