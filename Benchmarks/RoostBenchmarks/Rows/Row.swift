/// A row of the benchmark: one kind of work, run in a process of its own for each contender.
enum Row: String, CaseIterable, Codable, Sendable {
    case orderedLoad = "W1"
    case randomLoad = "W2"
    case updates = "W3"
    case singleCommits = "W4"
    case parallelCommits = "W5"
    case randomReads = "R1"
    case scans = "R2"
    case scansAfterRandomLoad = "R2r"
    case ranges = "R3"
    case readsBesideWriter = "R4"
    case compaction = "C1"
    case compactionBesideWriter = "C2"
    case opening = "O1"
    case property = "F1"
    case changeFeed = "D1"
    case jsonImport = "D2"
    case jsonDocuments = "D3"
    case views = "V1"
    case viewUpkeep = "V2"
    case steadyState = "M1"
    case primitives = "K1"
    case portablePrimitives = "K2"
    case blobWrite = "B1"
    case blobRead = "B2"
    case blobRandomReads = "B3"
    case queries = "Q1"
    case texts = "T1"
    case bulkInserts = "H1"
    case puts = "H2"
    case gets = "H3"
    case scriptedView = "H4"
    case idleFeeds = "H5"
    case channelWrites = "G1"
    case channelFeeds = "G2"
    case replication = "S1"
    case attachmentReplication = "S2"

    /// Those of encryption, and of blobs.
    static let ofCrypto: Set<Row> = [.primitives, .portablePrimitives]
    static let ofBlobs: Set<Row> = [.blobWrite, .blobRead, .blobRandomReads]
    /// Those of the document layer.
    static let ofDocuments: Set<Row> = [
        .property, .changeFeed, .jsonImport, .jsonDocuments, .views, .viewUpkeep, .steadyState,
    ]
    /// Those of queries and searches.
    static let ofQueries: Set<Row> = [.queries, .texts]
    /// Those of the HTTP server, and of replication.
    static let ofServer: Set<Row> = [.bulkInserts, .puts, .gets, .scriptedView, .idleFeeds]
    static let ofReplication: Set<Row> = [.replication, .attachmentReplication]
    /// Those of sync functions and channels.
    static let ofChannels: Set<Row> = [.channelWrites, .channelFeeds]
    /// Those that any store can take part in.
    static let ofStores = Set(allCases).subtracting(
        ofDocuments.union(ofCrypto).union(ofBlobs).union(ofQueries).union(ofServer).union(ofReplication)
            .union(ofChannels))

    /// The store a row starts from.
    enum State: String, Codable, Sendable {
        case empty
        /// As ``Row/orderedLoad`` leaves it.
        case ordered
        /// As ``Row/randomLoad`` leaves it.
        case random
        /// As ``Row/updates`` leaves it.
        case updated
        /// As ``Row/blobWrite`` leaves it.
        case blob

        /// The row that makes this state.
        var maker: Row? {
            switch self {
            case .empty: nil
            case .ordered: .orderedLoad
            case .random: .randomLoad
            case .updated: .updates
            case .blob: .blobWrite
            }
        }
    }

    /// What the row works on. It always gets a copy, so that every row and every repetition starts alike.
    var start: State {
        switch self {
        case .orderedLoad, .randomLoad, .property, .jsonImport, .jsonDocuments, .views, .viewUpkeep,
            .primitives, .portablePrimitives, .blobWrite, .queries, .texts, .bulkInserts, .puts, .gets,
            .scriptedView, .idleFeeds, .replication, .attachmentReplication, .channelWrites, .channelFeeds:
            .empty
        case .updates, .singleCommits, .parallelCommits, .randomReads, .scans, .ranges, .readsBesideWriter,
            .opening, .changeFeed, .steadyState:
            .ordered
        case .scansAfterRandomLoad: .random
        case .compaction, .compactionBesideWriter: .updated
        case .blobRead, .blobRandomReads: .blob
        }
    }

    /// What the row leaves for others to start from.
    var result: State? {
        switch self {
        case .orderedLoad: .ordered
        case .randomLoad: .random
        case .updates: .updated
        case .blobWrite: .blob
        default: nil
        }
    }

    /// Does the row's work and records its figures.
    func run(on stage: Stage) throws {
        switch self {
        case .orderedLoad: try LoadRow.run(on: stage, inOrder: true)
        case .randomLoad: try LoadRow.run(on: stage, inOrder: false)
        case .updates: try UpdateRow.run(on: stage)
        case .singleCommits: try CommitRow.run(on: stage, threads: 1)
        case .parallelCommits: try CommitRow.run(on: stage, threads: 4)
        case .randomReads: try RandomReadRow.run(on: stage)
        case .scans: try ScanRow.run(on: stage)
        case .scansAfterRandomLoad: try ScanRow.runAfterRandomLoad(on: stage)
        case .ranges: try RangeRow.run(on: stage)
        case .readsBesideWriter: try ReadBesideWriterRow.run(on: stage)
        case .compaction: try CompactionRow.run(on: stage)
        case .compactionBesideWriter: try CompactionPauseRow.run(on: stage)
        case .opening: try OpenRow.run(on: stage)
        case .property: try PropertyRow.run(on: stage)
        case .changeFeed: try ChangeFeedRow.run(on: stage)
        case .jsonImport: try ImportRow.run(on: stage)
        case .jsonDocuments: try DocumentRow.run(on: stage)
        case .views: try ViewRow.run(on: stage)
        case .viewUpkeep: try ViewUpkeepRow.run(on: stage)
        case .steadyState: try SteadyRow.run(on: stage)
        case .primitives: try PrimitiveRow.run(on: stage, .hardware)
        case .portablePrimitives: try PrimitiveRow.run(on: stage, .portable)
        case .blobWrite: try BlobWriteRow.run(on: stage)
        case .blobRead: try BlobReadRow.run(on: stage)
        case .blobRandomReads: try BlobRandomReadRow.run(on: stage)
        case .queries: try QueryRow.run(on: stage)
        case .texts: try TextRow.run(on: stage)
        case .bulkInserts: try BulkInsertRow.run(on: stage)
        case .puts: try PutRow.run(on: stage)
        case .gets: try GetRow.run(on: stage)
        case .scriptedView: try ScriptedViewRow.run(on: stage)
        case .idleFeeds: try IdleFeedRow.run(on: stage)
        case .channelWrites: try ChannelWriteRow.run(on: stage)
        case .channelFeeds: try ChannelFeedRow.run(on: stage)
        case .replication: try ReplicationRow.run(on: stage)
        case .attachmentReplication: try ReplicationRow.runWithAttachments(on: stage)
        }
    }
}
