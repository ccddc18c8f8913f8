/// The commits of a store, back to its last compaction, newest first.
///
/// Nothing is read before it is asked for; each step back reads one record of 192 bytes.
public struct History: Sendable {
    private let state: StoreState

    init(_ state: StoreState) { self.state = state }

    /// Walks the commits one by one, from the newest on.
    public func makeCursor() -> HistoryCursor { HistoryCursor(state) }

    /// The newest commits, newest first, at most `limit`.
    public func commits(limit: Int = .max) throws(StoreError) -> [Commit] {
        let cursor = makeCursor()
        var commits: [Commit] = []
        while commits.count < limit, let commit = try cursor.next() { commits.append(commit) }
        return commits
    }

    /// The newest commit that `condition` holds for, `nil` when there is none.
    public func last(where condition: (Commit) -> Bool) throws(StoreError) -> Commit? {
        let cursor = makeCursor()
        while let commit = try cursor.next() {
            if condition(commit) { return commit }
        }
        return nil
    }

    /// The commit of the given number, `nil` when it is not there or not any more.
    public func commit(number: UInt64) throws(StoreError) -> Commit? {
        let found = try last { $0.number <= number }
        return found?.number == number ? found : nil
    }
}

/// Walks a store's commits, newest first. Use it from one thread at a time.
public final class HistoryCursor {
    private let state: StoreState
    private var record: CommitRecord?
    private var isAtStart = true

    init(_ state: StoreState) {
        self.state = state
        record = state.record
    }

    /// The next older commit; `nil` after the file's first.
    ///
    /// - Throws: ``StoreError/Code/damaged`` where the record is not what the newer commit says it is.
    public func next() throws(StoreError) -> Commit? {
        try state.checkOpen()
        if isAtStart {
            isAtStart = false
        } else if let current = record {
            record = try LogScanner(file: state.file).previous(of: current)
        }
        return record.map { Commit($0) }
    }
}

extension Store {
    /// The commits up to the newest.
    public var history: History { History(state) }

    /// The store as of an older commit from ``history``. Reads the trees of the checkpoint before it and the
    /// operations since, at most ``StoreOptions/logLimit`` bytes of them.
    ///
    /// - Throws: ``StoreError/Code/notFound`` when the commit is not in the file any more, as after a compaction.
    public func snapshot(at commit: Commit) throws(StoreError) -> Snapshot {
        let state = state
        try state.checkOpen()
        if Commit(state.record) == commit { return Snapshot(state: state) }
        guard commit.offset < state.record.offset,
            let record = try LogScanner(file: state.file).record(at: commit.offset),
            record.checksum == commit.checksum
        else {
            throw StoreError(
                .notFound,
                "\(path) has no commit \(commit.number) any more; a compaction keeps only the newest state.")
        }
        let opener = StoreOpener(path: path, options: options, environment: environment)
        return Snapshot(state: try opener.state(at: record, of: state.file))
    }
}

// MARK: - Commit

/// One commit of a store.
public struct Commit: Hashable, Sendable {
    /// What a commit holds.
    public enum Kind: Sendable {
        /// Changes; the trees' nodes are written later.
        case changes
        /// Changes, if any, and the roots of all trees.
        case checkpoint
        /// Nothing: a writer ended its work and everything before is on the medium.
        case close
    }

    /// Counts the store's commits from 1.
    public let number: UInt64
    /// When it was made, as the clock said: seconds since 1970.
    public let time: Double
    /// What it holds.
    public let kind: Kind
    /// The bytes that it takes in the file.
    public let size: UInt64
    /// Where its record stands in the file.
    let offset: UInt64
    /// Tells it from the commits of other files.
    let checksum: UInt64

    init(_ record: CommitRecord) {
        number = record.number
        time = Double(record.time) / 1_000_000
        kind =
            switch record.kind {
            case .log: .changes
            case .checkpoint: .checkpoint
            case .cleanShutdown, .barrier: .close
            }
        size = record.end - record.start
        offset = record.offset
        checksum = record.checksum
    }
}
