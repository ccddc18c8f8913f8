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
