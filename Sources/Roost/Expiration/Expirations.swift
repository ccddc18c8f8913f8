import Dispatch
import Foundation
import RoostBytes
import RoostFile
import RoostStorage
import Synchronization

extension WriteTransaction {
    /// Sets when a document is to be purged; `nil` for never.
    ///
    /// Not an edit: the document gets no new revision and stands where it stood in the changes. The purge is not
    /// replicated. An edit leaves the expiration as it is.
    ///
    /// - Parameters:
    ///   - date: To the microsecond. A date that has passed is good for a purge right away.
    ///   - id: The document's name.
    ///   - collection: Where it is.
    /// - Returns: Whether there is such a document.
    /// - Throws: `invalidDate` for a date that is not a number, `invalidDocumentID`.
    @discardableResult
    public func setExpiration(
        _ date: Date?, of id: String, in collection: DocumentCollection
    ) throws(DatabaseError) -> Bool {
        let name = try DocumentID(revisioned: id)
        let writer = try writer(collection)
        guard date?.timeIntervalSince1970.isNaN != true else {
            throw DatabaseError(
                .invalidDate, "The expiration of \(DatabaseError.quoted(id)) is not a number. Give it a date."
            )
        }
        let time = date.map(\.microsecondsSince1970)
        let isThere = try writer.setExpiration(writer.keyView(name), time)
        if isThere, let time { nextExpiration = min(nextExpiration ?? .max, time) }
        return isThere
    }
}

extension CollectionSnapshot {
    /// When a document is to be purged; `nil` for never, and where there is none.
    public func expiration(of id: String) throws(DatabaseError) -> Date? {
        try id.withUTF8View { (key) throws(DatabaseError) in
            try reader.withEntry(key) { (entry, _) throws(DatabaseError) in entry.expiration.map(Date.init) }
                ?? nil
        }
    }

    /// The documents that are to be purged before a date, earliest first; all that expire by default.
    public func expirations(
        before date: Date = .distantFuture, limit: Int = .max
    ) throws(DatabaseError) -> [(id: String, date: Date)] {
        let range = KeyRange(
            lower: Key(ExtrasKey.expirations(from: 0)),
            upper: Key(ExtrasKey.expirations(from: date.microsecondsSince1970)))
        return try reader.expirations(range, limit: limit).map {
            ($0.id, Date(microsecondsSince1970: $0.time))
        }
    }
}

extension Database {
    /// Purges all documents whose expiration has come. It happens by itself while the database is open for writing.
    ///
    /// - Returns: How many documents were purged.
    @discardableResult
    public func purgeExpired() throws(DatabaseError) -> Int {
        try checkWritable()
        return try core.purgeExpired()
    }
}

extension Date {
    init(microsecondsSince1970 time: UInt64) {
        self.init(timeIntervalSince1970: Double(time) / 1_000_000)
    }

    /// Rounded, and held within what there can be.
    fileprivate var microsecondsSince1970: UInt64 {
        let time = (timeIntervalSince1970 * 1_000_000).rounded()
        return time >= 0 ? UInt64(exactly: min(time, 9e18)) ?? 0 : 0
    }
}

// MARK: - ExpirationTimer

/// Purges documents when they expire, while the database is open, and those that expired before it was opened.
///
/// It holds no list: the extras of each collection have the expirations in order, and the timer is set to the first.
final class ExpirationTimer: Sendable {
    private struct State {
        /// When the timer goes off, in microseconds since 1970; `nil` when it is not set.
        var due: UInt64?
        var isStopped = true
        /// Only the timer set last counts.
        var setting = 0
        /// When purging may begin again, in microseconds since 1970.
        var next: UInt64 = 0
    }

    private let state = Mutex(State())
    private let environment: Environment
    /// A queue of its own: a purge waits for the medium, which no shared thread should do.
    private let queue = DispatchQueue(label: "roost.expirations", qos: .utility)
    /// How far ahead a timer is set at most, in microseconds: the clock may be changed meanwhile.
    private static let longestWait: UInt64 = 60_000_000
    /// How long no purge begins after another one, in microseconds: documents that expire one after the other are purged some in
    /// a commit, as each commit waits for the medium and keeps writers waiting.
    private static let spacing: UInt64 = 100_000

    init(environment: Environment) {
        self.environment = environment
    }

    /// Begins to work for `core`, which it does not keep alive.
    func start(_ core: DatabaseCore) {
        state.withLock { $0.isStopped = false }
        set(0, core)
    }

    /// Ends the work.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.setting += 1
            state.due = nil
        }
    }

    /// Sees to it that the timer goes off at `time` or before.
    func schedule(at time: UInt64, _ core: DatabaseCore) {
        let isLater = state.withLock { $0.due.map { $0 <= time } ?? false }
        if !isLater { set(time, core) }
    }

    private func set(_ time: UInt64, _ core: DatabaseCore) {
        let set: (setting: Int, time: UInt64)? = state.withLock { state in
            guard !state.isStopped else { return nil }
            state.setting += 1
            state.due = max(time, state.next)
            return (state.setting, max(time, state.next))
        }
        guard let (setting, time) = set else { return }
        let now = environment.clock.now()
        let wait = time > now ? min(time - now, Self.longestWait) : 0
        queue.asyncAfter(deadline: .now() + .microseconds(Int(wait))) { [weak self, weak core] in
            guard let self, let core, self.state.withLock({ $0.setting == setting }) else { return }
            self.fire(core)
        }
    }

    private func fire(_ core: DatabaseCore) {
        let now = environment.clock.now()
        state.withLock { state in
            state.due = nil
            state.next = now + Self.spacing
        }
        do throws(DatabaseError) {
            _ = try core.purgeExpired()
            if let next = try core.firstExpiration() { schedule(at: next, core) }
        } catch {
            // The medium failed or the database was closed. The next write that sets an expiration, or the next
            // opening, tries again.
        }
    }
}

// MARK: - Expiration

extension DatabaseCore {
    /// How many documents are purged in one commit.
    private static let purgeBatch = 1000

    /// Purges all documents whose time has come, some in each commit; answers how many.
    func purgeExpired() throws(DatabaseError) -> Int {
        let now = environment.clock.now()
        var count = 0
        if process != nil { _ = try refresh() }
        for (name, trees) in try collections(in: store.snapshot()) {
            var purged = 0
            repeat {
                purged = try purgeExpired(name, trees, now)
                count += purged
            } while purged == Self.purgeBatch
        }
        return count
    }

    private func purgeExpired(
        _ name: CollectionName, _ trees: CollectionTrees, _ now: UInt64
    ) throws(DatabaseError) -> Int {
        let reader = CollectionReader(source: store.snapshot(), trees: trees)
        let range = KeyRange(
            lower: Key(ExtrasKey.expirations(from: 0)), upper: Key(ExtrasKey.expirations(from: now + 1)))
        guard try reader.expirations(range, limit: 1).isEmpty == false else { return 0 }
        return try write { (transaction) throws(DatabaseError) in
            let writer = try transaction.writer(name, trees)
            // What is due is read again within the transaction: an expiration may have been changed till then.
            let due = try writer.reader.expirations(range, limit: Self.purgeBatch)
            for (id, _) in due { _ = try transaction.purge(try DocumentID(id), nil, by: writer) }
            return due.count
        }
    }

    /// When the next document expires, in microseconds since 1970.
    func firstExpiration() throws(DatabaseError) -> UInt64? {
        let snapshot = store.snapshot()
        var first: UInt64?
        for (_, trees) in try collections(in: snapshot) {
            let reader = CollectionReader(source: snapshot, trees: trees)
            if let next = try reader.expirations(ExtrasKey.allExpirations, limit: 1).first {
                first = min(first ?? .max, next.time)
            }
        }
        return first
    }
}

extension CollectionReader {
    /// The expirations whose keys are in `range`, earliest first.
    func expirations(_ range: KeyRange, limit: Int) throws(DatabaseError) -> [(id: String, time: UInt64)] {
        let cursor = try extras.cursor(range)
        var found: [(id: String, time: UInt64)] = []
        while found.count < limit, try translating({ () throws(StoreError) in try cursor.next() }) {
            guard let (time, id) = ExtrasKey.readExpiration(cursor.keyView) else {
                throw DatabaseError.damaged("The entry of an expiration")
            }
            found.append((try String(documentID: id), time))
        }
        return found
    }
}
