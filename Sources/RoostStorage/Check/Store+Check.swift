import RoostFile

extension Store {
    /// Verifies the store in the file at `path`, which nobody need have open: every byte of every commit, and every
    /// node and value that the newest commit leads to. Takes no lock and writes nothing.
    ///
    /// Reads the whole file and, once more, what is alive in it. Memory: ``CheckOptions/memoryLimit`` at most for
    /// references, what the log since the last checkpoint takes, and the largest value.
    ///
    /// - Parameters:
    ///   - path: the store's file.
    ///   - options: how to open the store; its reductions, and its key where it is encrypted, are of use.
    ///   - checking: what to look at, and with how much memory.
    ///   - progress: returns `false` to stop.
    /// - Throws: what keeps the check from being made, such as ``StoreError/Code/notAStore``,
    ///   ``StoreError/Code/wrongKey`` or ``StoreError/Code/cancelled``; damage is in the report.
    public static func check(
        _ path: String, options: StoreOptions = StoreOptions(), checking: CheckOptions = CheckOptions(),
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        try check(path, options: options, environment: .system, checking: checking, progress: progress)
    }

    /// As ``check(_:options:checking:progress:)``, on a medium of the caller's choice.
    package static func check(
        _ path: String, options: StoreOptions, environment: Environment,
        checking: CheckOptions = CheckOptions(),
        progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        var options = options
        options.cacheSize = StoreCheck.cacheLimit
        let opener = StoreOpener(path: path, options: options, environment: environment)
        do throws(StoreError) {
            let file = try opener.openFile(.readOnly)
            return try StoreCheck(file, reductions: options.reductions, checking).run(
                at: nil, progress)
        } catch {
            // Without a header nothing else can be made sense of.
            guard error.code == .damaged, let damage = error.cause as? Damage else { throw error }
            var report = CheckReport()
            report.findings = [
                CheckFinding(offset: damage.offset, what: damage.what, tree: nil, severity: .error)
            ]
            return report
        }
    }

    /// Verifies the store as of its newest commit, while others read and write; see
    /// ``check(_:options:checking:progress:)``.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        try snapshot().check(options, progress: progress)
    }
}

extension Snapshot {
    /// Verifies the store as of this snapshot; see ``Store/check(_:options:checking:progress:)``.
    public func check(
        _ options: CheckOptions = CheckOptions(), progress: ProgressHandler? = nil
    ) throws(StoreError) -> CheckReport {
        try state.checkOpen()
        let file = DataFile(
            file: state.file.file, header: state.file.header, transform: state.file.codec.transform,
            cacheLimit: StoreCheck.cacheLimit)
        return try StoreCheck(file, reductions: state.reductions, options).run(at: state.record, progress)
    }
}

// MARK: - CheckReport

/// What an integrity check found and how much it looked at.
public struct CheckReport: Sendable {
    /// What is wrong, in the order of finding; at most ``CheckOptions/maximumFindings``.
    public internal(set) var findings: [CheckFinding] = []
    /// Findings beyond the maximum.
    public internal(set) var furtherFindings = 0
    /// Commits whose records and contents were verified.
    public internal(set) var commits = 0
    /// Trees of the newest commit.
    public internal(set) var trees = 0
    /// Entries of these trees.
    public internal(set) var entries: UInt64 = 0
    /// Tree nodes that were read.
    public internal(set) var nodes = 0
    /// Values outside the trees' nodes that were read.
    public internal(set) var values = 0
    /// The number of the commit that was checked; 0 when there is none that can be read.
    public internal(set) var commit: UInt64 = 0

    /// Whether nothing is wrong, apart from what a crash leaves behind.
    public var isClean: Bool { furtherFindings == 0 && !findings.contains { $0.severity > .notice } }

    /// Whether everything that the newest commit holds can be read and relied on.
    public var isSound: Bool { !findings.contains { $0.severity == .error } }
}

/// What an integrity check looks at, and what it may use.
public struct CheckOptions: Sendable {
    /// Verifies every byte of every commit back to the file's first; otherwise only those that opening needs.
    /// Default: true.
    public var includesHistory = true
    /// Reads all values; otherwise only the trees' nodes. Default: true.
    public var includesValues = true
    /// Findings to report; more are counted. Default: 1000.
    public var maximumFindings = 1000
    /// Bytes of memory for the proof that no two chunks overlap: 16 for each value and node that can't be joined
    /// with its neighbours. Where that is not enough the trees are walked several times. Default: 64 MiB.
    public var memoryLimit = 64 << 20

    /// The defaults.
    public init() {}
}

// MARK: - CheckFinding

/// One thing that is wrong with a store's file.
public struct CheckFinding: Hashable, Sendable, CustomStringConvertible {
    /// What a finding means for the data.
    public enum Severity: Int, Comparable, Sendable {
        /// As a crash leaves it, or another process that is writing just now; opening for writing mends it.
        case notice
        /// Older commits, spare copies or statistics are damaged; what the newest commit holds is not.
        case warning
        /// Something that the newest commit holds can't be read, or can't be relied on.
        case error

        /// Order by how bad it is.
        public static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
    }

    /// Where in the file, in bytes from its start.
    public let offset: UInt64
    /// What is wrong, as part of a sentence. It never holds keys or values.
    public let what: String
    /// The tree that is affected, where that is known.
    public let tree: String?
    /// What it means for the data.
    public let severity: Severity

    /// The finding in a line.
    public var description: String {
        "\(severity): \(what) at offset \(offset)" + (tree.map { " (tree \"\($0)\")" } ?? "")
    }
}

// MARK: - FindingList

/// Gathers findings, each once, up to a limit.
final class FindingList {
    private(set) var findings: [CheckFinding] = []
    private(set) var further = 0
    private var seen: Set<CheckFinding> = []
    private let limit: Int
    /// Set while trees are walked again for another purpose.
    var isMuted = false

    init(limit: Int) { self.limit = max(1, limit) }

    func add(
        _ what: String, at offset: UInt64, tree: String? = nil, _ severity: CheckFinding.Severity = .error
    ) {
        let finding = CheckFinding(offset: offset, what: what, tree: tree, severity: severity)
        guard !isMuted, !seen.contains(finding) else { return }
        guard findings.count < limit else {
            further += 1
            return
        }
        seen.insert(finding)
        findings.append(finding)
    }

    /// Adds what `error` says of the file; what does not concern the file is thrown on.
    func add(
        _ error: StoreError, at offset: UInt64, tree: String? = nil,
        _ severity: CheckFinding.Severity = .error
    ) throws(StoreError) {
        switch error.code {
        case .damaged:
            let damage = error.cause as? Damage
            add(damage?.what ?? error.message, at: damage?.offset ?? offset, tree: tree, severity)
        case .inputOutput:
            add("bytes that the medium does not give back", at: offset, tree: tree, severity)
        default:
            throw error
        }
    }
}

// MARK: - ChunkLedger

/// Proves that no two chunks overlap and that every borrowed value has exactly one sharing owner.
///
/// Chunks come in any order. Neighbouring chunks of one owner join into one extent, a borrowed value goes once its
/// owner is there, so what stays is 16 bytes for each gap and each shared value. When that exceeds the memory allowed,
/// the ledger keeps to the lower part of the file; the trees are then walked again for the rest, from ``upper`` on.
final class ChunkLedger {
    /// How a chunk is reached.
    enum Use: UInt64 {
        /// By its one owner.
        case owned = 0
        /// By the one owner that others may borrow it from.
        case shared = 1
        case borrowed = 2
    }

    private struct Extent {
        var offset: UInt64
        var lengthAndUse: UInt64

        var use: Use { Use(rawValue: lengthAndUse & 3) ?? .owned }
        var end: UInt64 { offset &+ lengthAndUse >> 2 }

        init(_ chunk: ChunkReference, _ use: Use) {
            offset = chunk.offset
            lengthAndUse = UInt64(chunk.length) << 2 | use.rawValue
        }

        mutating func join(_ other: Extent) { lengthAndUse += other.lengthAndUse & ~3 }
    }

    private let findings: FindingList
    private let capacity: Int
    private var extents: [Extent] = []
    /// Only chunks that begin in this part of the file are looked at.
    private let lower: UInt64
    private(set) var upper = UInt64.max

    init(from lower: UInt64, memoryLimit: Int, _ findings: FindingList) {
        self.lower = lower
        self.findings = findings
        capacity = max(memoryLimit / MemoryLayout<Extent>.stride, 64)
    }

    func note(_ chunk: ChunkReference, _ use: Use) {
        guard chunk.offset >= lower, chunk.offset < upper else { return }
        extents.append(Extent(chunk, use))
        guard extents.count >= capacity else { return }
        settle(isFinal: false)
        // Half of the room must be free again, or every few chunks would be followed by another round.
        guard extents.count > capacity / 2 else { return }
        upper = extents[extents.count / 2].offset
        extents.removeAll { $0.offset >= upper }
    }

    /// Reports what is left; says where another walk must begin, `nil` when the whole file was covered.
    func finish() -> UInt64? {
        settle(isFinal: true)
        // One extent may be larger than all the room; the part of the file after its start is then done with.
        return upper == .max ? nil : max(upper, lower + 1)
    }

    private func settle(isFinal: Bool) {
        extents.sort { ($0.offset, $0.lengthAndUse & 3) < ($1.offset, $1.lengthAndUse & 3) }
        var kept: [Extent] = []
        /// Where the last chunk that has an owner stands.
        var last: Extent?
        for extent in extents {
            if extent.use == .borrowed {
                if isOwner(last, of: extent) { continue }
                if isFinal { reportBorrowed(extent, last) } else { kept.append(extent) }
                continue
            }
            if let last, extent.offset < last.end {
                findings.add("a chunk that overlaps another, or belongs to two owners", at: extent.offset)
                continue
            }
            if extent.use == .owned, let index = kept.indices.last, kept[index].use == .owned,
                kept[index].end == extent.offset
            {
                kept[index].join(extent)
            } else {
                kept.append(extent)
            }
            last = kept.last
        }
        extents = kept
    }

    private func isOwner(_ owner: Extent?, of borrowed: Extent) -> Bool {
        guard let owner, owner.use == .shared else { return false }
        return owner.offset == borrowed.offset && owner.end == borrowed.end
    }

    private func reportBorrowed(_ borrowed: Extent, _ last: Extent?) {
        let isCovered = last.map { borrowed.offset < $0.end } ?? false
        findings.add(
            isCovered
                ? "a borrowed value whose owner does not share it" : "a borrowed value without an owner",
            at: borrowed.offset)
    }
}
