import Roost

/// What an execution has done, and whether it should go on.
final class WorkCounter {
    /// How many documents were read.
    var documents = 0
    /// How many entries of indexes were read.
    var entries = 0
    /// How many rows came out.
    var rows = 0
    private let isCancelled: () -> Bool

    init(isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }

    /// - Throws: `cancelled` when the task was cancelled, or whoever waits has gone.
    func checkCancellation() throws(DatabaseError) {
        guard Task.isCancelled || isCancelled() else { return }
        throw DatabaseError(.cancelled, "The query was cancelled after it had read \(documents) documents.")
    }
}

/// How much memory an execution may keep rows in.
final class MemoryBudget {
    private let limit: Int
    private var used = 0

    init(limit: Int) { self.limit = limit }

    /// Takes `count` bytes of it.
    ///
    /// - Throws: `limitExceeded` when that is more than there is.
    func take(_ count: Int) throws(DatabaseError) {
        used += count
        guard used <= limit else {
            throw DatabaseError(
                .limitExceeded,
                "Sorting, grouping or joining keeps more than the \(limit >> 20) MB that QueryOptions.memoryLimit allows. Ask "
                    + "for fewer rows or columns, or raise it.")
        }
    }

    func giveBack(_ count: Int) { used -= count }
}
