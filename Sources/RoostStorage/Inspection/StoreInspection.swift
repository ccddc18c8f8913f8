/// Where the bytes of a store's file are: by content, by tree, by place and by commit.
public struct StoreInspection: Sendable {
    /// Bytes of the file.
    public let fileBytes: UInt64
    /// The version of the file's format.
    public let formatVersion: UInt32
    /// How many compactions lie behind the file.
    public let generation: UInt64
    /// When the file was made, by a compaction or as a new store: seconds since 1970.
    public let created: Double
    /// Whether the file is encrypted.
    public let isEncrypted: Bool
    /// The newest commit; `nil` when none can be read.
    public internal(set) var commit: Commit?
    /// How many commits the file holds.
    public internal(set) var commits: UInt64 = 0
    /// The size that nodes aim at, by which ``TreeShape/Level/fill`` is measured, in bytes.
    public let nodeSize: Int
    /// The trees of the newest commit, by name.
    public internal(set) var trees: [TreeShape] = []
    /// A picture of the file.
    public internal(set) var map: FileMap
    /// The commits, oldest first, several together where there are many.
    public internal(set) var timeline: [CommitSpan] = []
    /// What could not be read, at most a hundred places. To be sure that a file is whole, check it.
    public internal(set) var findings: [CheckFinding] = []
    private var uses = [FileUse](repeating: FileUse(), count: FileContent.allCases.count)

    init(_ file: DataFile, size: UInt64, nodeSize: Int, _ options: InspectionOptions) {
        fileBytes = size
        formatVersion = Format.version
        generation = file.header.generation
        created = Double(file.header.created) / 1_000_000
        isEncrypted = file.codec.isTransformed
        self.nodeSize = nodeSize
        map = FileMap(size: size, limit: options.maximumCells)
    }

    /// How much of the file is of the given content.
    public subscript(content: FileContent) -> FileUse { uses[content.rawValue] }

    /// Bytes of the file that a compaction would keep, give or take how full nodes are.
    public var liveBytes: UInt64 { uses.reduce(0) { $0 &+ $1.liveBytes } }

    /// Notes bytes that are dead until ``revive(_:_:isChunk:)`` says otherwise.
    mutating func add(_ range: Range<UInt64>, _ content: FileContent, isChunk: Bool) {
        map.add(range, content)
        uses[content.rawValue].deadBytes &+= range.upperBound - range.lowerBound
        if isChunk { uses[content.rawValue].deadChunks &+= 1 }
    }

    /// Makes dead bytes live.
    mutating func revive(_ range: Range<UInt64>, _ content: FileContent, isChunk: Bool) {
        map.revive(range, content)
        let bytes = range.upperBound - range.lowerBound
        // Damaged files may lead to the same bytes twice.
        let moved = min(bytes, uses[content.rawValue].deadBytes)
        uses[content.rawValue].deadBytes -= moved
        uses[content.rawValue].liveBytes &+= moved
        guard isChunk, uses[content.rawValue].deadChunks > 0 else { return }
        uses[content.rawValue].deadChunks -= 1
        uses[content.rawValue].liveChunks += 1
    }
}

/// How finely an inspection looks.
public struct InspectionOptions: Sendable {
    /// The most cells of the map; 144 bytes of memory each. Default: 4096.
    public var maximumCells = 4096
    /// The most spans of the time line. Default: 400.
    public var maximumSpans = 400

    /// The defaults.
    public init() {}
}

// MARK: - CommitSpan

/// Some commits in a row, counted together.
public struct CommitSpan: Hashable, Sendable {
    /// The numbers of its commits.
    public internal(set) var numbers: ClosedRange<UInt64>
    /// When the first and the last of them were made, as the clock said: seconds since 1970.
    public internal(set) var firstTime: Double
    /// See ``firstTime``.
    public internal(set) var lastTime: Double
    /// How many commits they are.
    public internal(set) var count: UInt64 = 1
    /// How many of them are checkpoints.
    public internal(set) var checkpoints: UInt64
    /// Bytes that they take in the file.
    public internal(set) var bytes: UInt64
    /// Where the last of them ends in the file.
    public internal(set) var end: UInt64
    /// About how many bytes were alive after the last of them, as its record says.
    public internal(set) var liveBytes: UInt64

    init(_ record: CommitRecord) {
        numbers = record.number...record.number
        firstTime = Double(record.time) / 1_000_000
        lastTime = firstTime
        checkpoints = record.kind == .checkpoint ? 1 : 0
        bytes = record.end - record.start
        end = record.end
        liveBytes = record.liveBytes
    }

    /// Takes in the span right before this one.
    mutating func extend(with earlier: CommitSpan) {
        numbers = min(earlier.numbers.lowerBound, numbers.lowerBound)...numbers.upperBound
        firstTime = earlier.firstTime
        count += earlier.count
        checkpoints += earlier.checkpoints
        bytes &+= earlier.bytes
    }
}

/// Gathers commits, newest first, into a bounded number of spans of equally many commits.
struct CommitTimeline {
    /// Newest first.
    private var spans: [CommitSpan] = []
    private var width: UInt64 = 1
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 2) }

    mutating func add(_ record: CommitRecord) {
        let span = CommitSpan(record)
        if let last = spans.indices.last, spans[last].count < width {
            spans[last].extend(with: span)
        } else {
            if spans.count >= limit { halve() }
            spans.append(span)
        }
    }

    private mutating func halve() {
        spans = stride(from: 0, to: spans.count, by: 2).map { index in
            var span = spans[index]
            if index + 1 < spans.count { span.extend(with: spans[index + 1]) }
            return span
        }
        width *= 2
    }

    /// The spans, oldest first.
    var oldestFirst: [CommitSpan] { spans.reversed() }
}

// MARK: - FileContent

/// What the bytes of a store's file are.
public enum FileContent: Int, CaseIterable, Sendable {
    /// The file header and its copy.
    case header
    /// Values that stand outside their tree.
    case value
    /// Tree nodes.
    case node
    /// The log: operations that opening replays onto the trees of the last checkpoint.
    case operations
    /// The roots of all trees, as checkpoints keep them.
    case directory
    /// Commit records, and the zeros that fill commits up to whole blocks: never alive, as a compaction gives them back.
    case framing
    /// Behind the newest commit: space prepared for the next ones, or what a crash left of one.
    case prepared
    /// Bytes within commits that make no chunk.
    case unreadable

    /// Its name in English: lower case, one word.
    public var name: String { "\(self)" }
}

/// How much of something is alive: needed for the newest commit, and kept by a compaction.
public struct FileUse: Hashable, Sendable {
    /// Chunks that the newest commit leads to; 0 for what is not kept in chunks.
    public internal(set) var liveChunks: UInt64 = 0
    /// Their bytes.
    public internal(set) var liveBytes: UInt64 = 0
    /// Chunks that only older commits lead to.
    public internal(set) var deadChunks: UInt64 = 0
    /// Their bytes.
    public internal(set) var deadBytes: UInt64 = 0

    /// Bytes of both.
    public var bytes: UInt64 { liveBytes + deadBytes }
}

// MARK: - FileMap

/// What each part of a file is used for, in cells of equal length: a picture of the file, of bounded size whatever the
/// file's.
public struct FileMap: Sendable {
    /// The length of a cell, a multiple of a block of 4096 bytes; the last cell may reach beyond the file.
    public let cellBytes: UInt64
    /// How many cells there are.
    public let count: Int
    /// Live bytes and dead bytes of each content, cell after cell.
    private var bytes: [UInt32]

    private static let perCell = FileContent.allCases.count * 2

    /// A map of a file of `size` bytes with at most `limit` cells.
    init(size: UInt64, limit: Int) {
        let block = UInt64(Format.blockSize)
        var length = block
        // Doubling keeps cells comparable between files; 32 bits count the bytes of one up to the largest file.
        while length < 1 << 31, (size + length - 1) / length > UInt64(max(limit, 1)) { length *= 2 }
        cellBytes = length
        count = Int((size + length - 1) / length)
        bytes = [UInt32](repeating: 0, count: count * FileMap.perCell)
    }

    /// The bytes of cell `index` that are of the given content and alive, or dead.
    public func bytes(of content: FileContent, isLive: Bool, in index: Int) -> UInt64 {
        UInt64(bytes[FileMap.place(content, isLive, index)])
    }

    private static func place(_ content: FileContent, _ isLive: Bool, _ index: Int) -> Int {
        index * perCell + content.rawValue * 2 + (isLive ? 0 : 1)
    }

    /// Adds bytes that are dead until ``revive(_:_:)`` says otherwise. What lies outside the file is left out.
    mutating func add(_ range: Range<UInt64>, _ content: FileContent) {
        forCells(range) { map, index, count in map.bytes[FileMap.place(content, false, index)] &+= count }
    }

    /// Makes dead bytes live.
    mutating func revive(_ range: Range<UInt64>, _ content: FileContent) {
        forCells(range) { map, index, count in
            let dead = FileMap.place(content, false, index)
            let moved = min(count, map.bytes[dead])
            map.bytes[dead] -= moved
            map.bytes[FileMap.place(content, true, index)] &+= moved
        }
    }

    private mutating func forCells(
        _ range: Range<UInt64>, _ body: (inout FileMap, _ index: Int, _ count: UInt32) -> Void
    ) {
        var position = range.lowerBound
        while position < range.upperBound, position / cellBytes < UInt64(count) {
            let index = position / cellBytes
            let end = min(range.upperBound, (index + 1) * cellBytes)
            body(&self, Int(index), UInt32(truncatingIfNeeded: end - position))
            position = end
        }
    }
}

// MARK: - TreeShape

/// The form of one tree: its levels, how full their nodes are, what its entries hold.
public struct TreeShape: Sendable {
    /// The nodes at one distance from the leaves.
    public struct Level: Hashable, Sendable {
        /// Nodes, those in memory included.
        public internal(set) var nodes: UInt64 = 0
        /// Nodes that differ from what the file holds: changes since the last checkpoint, kept in memory.
        public internal(set) var changedNodes: UInt64 = 0
        /// Entries of leaves, or children of branch nodes.
        public internal(set) var entries: UInt64 = 0
        /// Bytes that the nodes take in the file, as they are stored.
        public internal(set) var storedBytes: UInt64 = 0
        /// Bytes of the nodes' pages, decompressed and decrypted, of those that could be read.
        public internal(set) var pageBytes: UInt64 = 0
        /// How many nodes have which part of the size that nodes aim at: ten bins from less than a tenth up; the last
        /// also has those that are larger.
        public internal(set) var fill = [UInt64](repeating: 0, count: TreeShape.fillBins)
    }

    /// The tree's name.
    public let name: String
    /// The name of its reduction, empty for none.
    public let reduction: String
    /// Leaves first, the root's level last; empty for an empty tree.
    public internal(set) var levels: [Level] = []
    /// Bytes of all keys, as if each stood in full.
    public internal(set) var keyBytes: UInt64 = 0
    /// Values that stand in their leaf.
    public internal(set) var inlineValues: UInt64 = 0
    /// Bytes in leaves: of these values, and what stands beside values in chunks.
    public internal(set) var inlineBytes: UInt64 = 0
    /// Values in chunks of their own that the tree owns.
    public internal(set) var values: UInt64 = 0
    /// Bytes of these chunks.
    public internal(set) var valueBytes: UInt64 = 0
    /// Entries whose value belongs to another tree.
    public internal(set) var borrowedValues: UInt64 = 0
    /// How many entries have a value of what size: bin *n* has those of 2ⁿ⁻¹ up to 2ⁿ − 1 bytes, bin 0 the empty ones.
    /// The size is that in the file, without the 6 to 10 bytes before a chunk.
    public internal(set) var valueSizes = [UInt64](repeating: 0, count: 34)
    /// Nodes that could not be read; what is below them is not counted.
    public internal(set) var unreadableNodes: UInt64 = 0

    static let fillBins = 10

    init(name: String, reduction: String) {
        self.name = name
        self.reduction = reduction
    }

    /// Entries of the tree.
    public var entries: UInt64 { levels.first?.entries ?? 0 }
    /// Bytes of its nodes in the file.
    public var nodeBytes: UInt64 { levels.reduce(0) { $0 &+ $1.storedBytes } }
}
