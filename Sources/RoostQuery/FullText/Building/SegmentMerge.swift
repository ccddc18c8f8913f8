import RoostBytes
import RoostIndex
import RoostStorage

/// Makes one segment of neighbouring ones, without what is dead, for as long as there is something to merge.
///
/// What is written becomes part of the index in one commit at the end. A merge that is cut off leaves postings of a segment
/// that nothing refers to, and the next one of that number begins by removing them.
struct SegmentMerge {
    let index: CompiledTextIndex
    let upkeep: IndexUpkeep

    /// About how many bytes are written in one commit.
    private static let commitSize = 8 << 20

    /// So many segments are put up with while a reader waits.
    private static let mostWhileAwaited = 32

    func run() throws {
        while true {
            let state = try state()
            guard !upkeep.isAwaited || state.segments.count > Self.mostWhileAwaited, let range = state.merge
            else { return }
            try merge(range)
        }
    }

    private func state() throws -> TextState { try TextState(upkeep.store.snapshot()[upkeep.rows]) }

    private func merge(_ range: Range<Int>) throws {
        let view = try upkeep.store.snapshot()[upkeep.rows]
        var state = try TextState(view)
        let segments = Array(state.segments[range])
        let number = try state.takeSegment()
        let living = LivingDocuments(view)
        try upkeep.commit(reaching: upkeep.sequence) {
            try $0.delete(TextKeys.segment(number), in: upkeep.rows)
        }
        var pending: [(key: [UInt8], value: [UInt8])] = []
        var size = 0
        var writer = PostingWriter(number) { key, value in
            pending.append((key.array, value.array))
            size += key.count + value.count
        }
        func commit() throws {
            try upkeep.step(UInt64(state.documents))
            let entries = pending
            try upkeep.commit(reaching: upkeep.sequence) { transaction in
                for entry in entries { try transaction.put(Key(entry.key), entry.value, in: upkeep.rows) }
            }
            pending.removeAll(keepingCapacity: true)
            size = 0
        }
        var sources = try segments.map { try MergeSource(view, $0, index.coder) }
        while let term = sources.compactMap(\.term).min(by: { $0.lexicographicallyPrecedes($1) }) {
            try writer.begin(term)
            for index in sources.indices {
                while sources[index].term == term {
                    try sources[index].copyBlock(to: &writer, living)
                    try sources[index].next()
                }
            }
            try writer.flush()
            if size > Self.commitSize { try commit() }
        }
        let documents = segments[0].documents.lowerBound..<segments[segments.count - 1].documents.upperBound
        let count = segments.reduce(0) { $0 + $1.count - $1.dead }
        state.segments.replaceSubrange(
            range,
            with: count == 0
                ? [] : [TextState.Segment(number: number, documents: documents, count: count, dead: 0)])
        let (entries, done) = (pending, state)
        try upkeep.commit(reaching: upkeep.sequence) { transaction in
            for entry in entries { try transaction.put(Key(entry.key), entry.value, in: upkeep.rows) }
            for segment in segments {
                try transaction.delete(TextKeys.segment(segment.number), in: upkeep.rows)
            }
            try transaction.put(Key(TextKeys.state), done.encoded, in: upkeep.rows)
        }
    }
}

/// One of the segments that are merged.
private struct MergeSource {
    private let cursor: Cursor
    private let coder: PlaceCoder
    private let documents: Range<Int>
    private let hasDead: Bool
    /// The term that the cursor is at; `nil` after the last.
    private(set) var term: [UInt8]?
    private var first = 0
    /// The first document that the term's next block may have.
    private var least = 0
    private var numbers: [Int] = []
    private var counts: [Int] = []

    /// A block with fewer bytes is put together with its neighbours.
    private static let smallBlock = PostingBlock.size / 2

    init(_ view: TreeView, _ segment: TextState.Segment, _ coder: PlaceCoder) throws(StoreError) {
        cursor = view.cursor(TextKeys.segment(segment.number))
        self.coder = coder
        documents = segment.documents
        hasDead = segment.dead > 0
        try next()
    }

    mutating func next() throws(StoreError) {
        guard try cursor.next() else {
            term = nil
            return
        }
        let key = cursor.keyView
        let view = try TextKeys.term(key)
        if term.map({ $0.withView { $0.compare(view) != 0 } }) ?? true {
            term = view.array
            least = documents.lowerBound
        }
        first = TextKeys.number(key)
    }

    /// Adds the living documents of the block that the cursor is at.
    mutating func copyBlock(to writer: inout PostingWriter, _ living: LivingDocuments) throws {
        let value = try cursor.value()
        try value.withView { block in
            do {
                let head = try PostingBlock.Head(block, first: first)
                // What is written goes upwards, whatever the bytes say.
                guard first >= least, head.last < documents.upperBound else { throw TextDamage.error }
                least = head.last + 1
                guard hasDead || block.count < Self.smallBlock else {
                    return try writer.add(block: block, first: first)
                }
                var documents = PostingBlock.Documents(block, head)
                try documents.readNumbers(first: first, &numbers)
                var reader = ByteReader(block)
                _ = try reader.view(try documents.readCounts(&counts))
                for (number, count) in zip(numbers, counts) {
                    let start = reader.position
                    try coder.skip(count, &reader)
                    guard try living.contains(number) else { continue }
                    let places = block.slice(start, reader.position - start)
                    try writer.add(number, count: count, length: try living.length(number)) {
                        $0.append(places)
                    }
                }
            } catch is MalformedBytes {
                throw TextDamage.error
            }
        }
    }
}
