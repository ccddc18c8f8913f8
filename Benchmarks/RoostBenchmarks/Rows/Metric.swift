/// A figure that a row yields: a line of the table.
enum Metric: String, CaseIterable, Codable, Sendable {
    case orderedLoad = "W1"
    case orderedLoadSettled = "W1.settled"
    case orderedLoadWritten = "W1.written"
    case orderedLoadBlocks = "W1.blocks"
    case orderedLoadSyncs = "W1.syncs"
    case fileSize = "W1.size"
    case peakMemory = "W1.memory"
    case randomLoad = "W2"
    case randomLoadSettled = "W2.settled"
    case randomLoadWritten = "W2.written"
    case randomLoadBlocks = "W2.blocks"
    case updates = "W3"
    case updatesSettled = "W3.settled"
    case updatesWritten = "W3.written"
    case updatesBlocks = "W3.blocks"
    case updatesSyncs = "W3.syncs"
    case singleCommits = "W4"
    case singleCommitBytes = "W4.bytes"
    case singleCommitSyncs = "W4.syncs"
    case parallelCommits = "W5"
    case parallelCommitSyncs = "W5.syncs"
    case randomReads = "R1"
    case randomReadsTwoThreads = "R1.threads2"
    case scanByID = "R2.id"
    case scanBySequence = "R2.sequence"
    case scanAfterRandomLoad = "R2r"
    case scanAfterCompaction = "R2r.compacted"
    case ranges = "R3"
    case readsBesideWriter = "R4"
    case readLatency = "R4.p99"
    case writerBesideReads = "R4.writer"
    case compaction = "C1"
    case compactionWritten = "C1.written"
    case compactionPause = "C2"
    case usualCommit = "C2.usual"
    case openWarm = "O1"
    case openWarmRead = "O1.read"
    case openCold = "O1.cold"
    case openColdRead = "O1.cold.read"
    case propertyOfFleece = "F1"
    case propertyOfJSON = "F1.json"
    case changes = "D1"
    case changesBodies = "D1.bodies"
    case changesSince = "D1.since"
    case changeCount = "D1.count"
    case jsonImport = "D2"
    case jsonImportMemory = "D2.memory"
    case snapshot = "O1.snapshot"
    case hardwareGCM = "K1.gcm"
    case hardwareCTR = "K1.ctr"
    case hardwareCBCEncryption = "K1.cbc"
    case hardwareCBCChains = "K1.cbc.chains"
    case hardwareCBCDecryption = "K1.cbc.decryption"
    case hardwareSHA1 = "K1.sha1"
    case hardwareSHA256 = "K1.sha256"
    case hardwareMD5 = "K1.md5"
    case hardwareHMAC = "K1.hmac"
    case hardwarePBKDF2 = "K1.pbkdf2"
    case portableGCM = "K2.gcm"
    case portableCTR = "K2.ctr"
    case portableCBCEncryption = "K2.cbc"
    case portableCBCChains = "K2.cbc.chains"
    case portableCBCDecryption = "K2.cbc.decryption"
    case portableSHA1 = "K2.sha1"
    case portableSHA256 = "K2.sha256"
    case portableMD5 = "K2.md5"
    case portableHMAC = "K2.hmac"
    case portablePBKDF2 = "K2.pbkdf2"
    case blobWrite = "B1"
    case blobWriteMemory = "B1.memory"
    case blobRead = "B2"
    case blobReadMemory = "B2.memory"
    case blobFrameReads = "B3"
    case blobFrameBytes = "B3.bytes"
    case blobPageReads = "B3.any"
    case blobPageBytes = "B3.any.bytes"

    var row: Row {
        Row(rawValue: String(rawValue.prefix { $0 != "." }))!
    }

    /// The line's heading, with the unit.
    var title: String {
        switch self {
        case .orderedLoad: "W1 load in ID order, 1,000 per commit, docs/s"
        case .orderedLoadSettled: "W1 the same until settled and closed, docs/s"
        case .orderedLoadWritten: "W1 bytes written per byte of document, until closed"
        case .orderedLoadBlocks: "W1 the same by the kernel's count, whole folios"
        case .orderedLoadSyncs: "W1 syncs per commit"
        case .fileSize: "file size after W1, bytes per byte of document"
        case .peakMemory: "peak memory in W1, MB"
        case .randomLoad: "W2 load in random order, 1,000 per commit, docs/s"
        case .randomLoadSettled: "W2 the same until settled and closed, docs/s"
        case .randomLoadWritten: "W2 bytes written per byte of document, until closed"
        case .randomLoadBlocks: "W2 the same by the kernel's count, whole folios"
        case .updates: "W3 random updates, 100 per commit, docs/s"
        case .updatesSettled: "W3 the same until settled and closed, docs/s"
        case .updatesWritten: "W3 bytes written per byte of document, until closed"
        case .updatesBlocks: "W3 the same by the kernel's count, whole folios"
        case .updatesSyncs: "W3 syncs per commit"
        case .singleCommits: "W4 single-document commits/s"
        case .singleCommitBytes: "W4 bytes written per commit"
        case .singleCommitSyncs: "W4 syncs per commit"
        case .parallelCommits: "W5 single-document commits/s from 4 threads"
        case .parallelCommitSyncs: "W5 syncs per commit"
        case .randomReads: "R1 random reads by ID, reads/s"
        case .randomReadsTwoThreads: "R1 the same from 2 threads, reads/s"
        case .scanByID: "R2 scan by ID with bodies, docs/s"
        case .scanBySequence: "R2 scan by sequence with bodies, docs/s"
        case .scanAfterRandomLoad: "R2r scan by ID with bodies after random loading, docs/s"
        case .scanAfterCompaction: "R2r the same after compaction, docs/s"
        case .ranges: "R3 ranges of 100, scans/s"
        case .readsBesideWriter: "R4 random reads beside a committing writer, reads/s"
        case .readLatency: "R4 99th percentile of a read, us"
        case .writerBesideReads: "R4 what the writer got through, docs/s"
        case .compaction: "C1 compaction after W3, s"
        case .compactionWritten: "C1 bytes written per live byte"
        case .compactionPause: "C2 longest single-document commit beside a compaction, ms"
        case .usualCommit: "C2 99th percentile of these commits, ms"
        case .openWarm: "O1 open, warm, us"
        case .openWarmRead: "O1 open and first read, warm, us"
        case .openCold: "O1 open, cold, us"
        case .openColdRead: "O1 open and first read, cold, us"
        case .propertyOfFleece: "F1 one property of a stored person, reads/s"
        case .propertyOfJSON: "F1 the same of JSON by Foundation's JSONDecoder, reads/s"
        case .changes: "D1 change feed, changes/s"
        case .changesBodies: "D1 the same with bodies, changes/s"
        case .changesSince: "D1 fetch the last 100 changes, us"
        case .changeCount: "D1 count what changed since half of them, us"
        case .jsonImport: "D2 roost import of JSON lines, the whole process, docs/s"
        case .jsonImportMemory: "D2 peak memory of the process, MB"
        case .snapshot: "O1 take and release a snapshot, ns"
        case .blobWrite: "B1 blob stored durably from a file, MB/s"
        case .blobWriteMemory: "B1 peak memory, MB"
        case .blobRead: "B2 blob read and checked, MB/s"
        case .blobReadMemory: "B2 peak memory, MB"
        case .blobFrameReads: "B3 random reads of a frame's 4,080 bytes, reads/s"
        case .blobFrameBytes: "B3 bytes read from the file for each"
        case .blobPageReads: "B3 random reads of 4,096 bytes, reads/s"
        case .blobPageBytes: "B3 bytes read from the file for each"
        default: primitiveTitle
        }
    }

    /// Whether more is better: the rates.
    var isRate: Bool {
        title.contains("/s")
    }

    /// Whether the line counts something that is no goal by itself, so that no ratio is worth showing.
    var isCount: Bool {
        switch self {
        case .orderedLoadSyncs, .updatesSyncs, .singleCommitSyncs, .parallelCommitSyncs, .singleCommitBytes,
            .orderedLoadBlocks, .randomLoadBlocks, .updatesBlocks, .blobFrameBytes, .blobPageBytes:
            true
        default: false
        }
    }
}

extension Metric {
    /// The figure of a primitive in one of their rows.
    init(_ primitive: Primitive, _ row: Row) {
        self.init(rawValue: "\(row.rawValue).\(primitive.rawValue)")!
    }

    private var primitiveTitle: String {
        let primitive = Primitive.allCases.first { Metric($0, row) == self }
        let path = row == .portablePrimitives ? "portable " : ""
        return "\(row.rawValue) \(path)\(primitive?.title ?? rawValue)"
    }
}
