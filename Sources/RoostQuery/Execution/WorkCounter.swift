import Roost

/// What an execution has done, and whether it should go on.
final class WorkCounter {
    /// How many documents were read.
    var documents = 0
    /// How many entries of indexes were read.
    var entries = 0
    /// How many rows came out.
    var rows = 0
    /// Whether whoever waits for the answer has gone.
    let isCancelled: () -> Bool

    init(isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }

    /// What was done until now.
    var work: Work { Work(documents: documents, entries: entries) }

    /// Adds what others have done.
    func add(_ work: Work) {
        documents += work.documents
        entries += work.entries
    }

    /// Figures of a counter.
    struct Work: Sendable {
        let documents: Int
        let entries: Int
    }

    /// - Throws: `cancelled` when the task was cancelled, or whoever waits has gone.
    func checkCancellation() throws(DatabaseError) {
        guard Task.isCancelled || isCancelled() else { return }
        throw DatabaseError(.cancelled, "The query was cancelled after it had read \(documents) documents.")
    }
}

/// How much memory an execution may keep rows in.
final class MemoryBudget {
    let limit: Int
    private(set) var used = 0
    /// What waits to be sorted, and can be put aside.
    private var waiting = 0

    init(limit: Int) { self.limit = limit }

    /// Whether `count` bytes more are within it.
    func fits(_ count: Int) -> Bool { used + waiting + count <= limit }

    /// As ``fits(_:)``, with something left for sorting what is put aside then.
    func fitsEasily(_ count: Int) -> Bool { used + waiting + count <= limit / 2 }

    /// So many bytes are sorted at once, whatever the limit: smaller runs would be too many.
    var leastRun: Int { max(limit / 8, 1 << 16) }

    /// Takes `count` bytes of it.
    ///
    /// - Throws: `limitExceeded` when that is more than there is.
    func take(_ count: Int) throws(DatabaseError) {
        used += count
        guard used <= limit else {
            throw DatabaseError(
                .limitExceeded,
                "The query keeps more in memory than the \(limit >> 20) MB that QueryOptions.memoryLimit allows, of what can't be "
                    + "put aside, such as the array of an array_agg or the rows of a subquery. Ask for fewer rows or columns, or "
                    + "raise the limit.")
        }
    }

    func giveBack(_ count: Int) { used -= count }

    /// Notes that `count` bytes more wait to be sorted, or fewer.
    func wait(_ count: Int) { waiting += count }
}
