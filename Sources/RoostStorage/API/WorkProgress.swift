/// How far long work on a store has come.
public struct WorkProgress: Hashable, Sendable {
    /// Bytes of the file that are done with.
    public let completed: UInt64
    /// Bytes that there are to do, as far as is known yet.
    public let total: UInt64

    package init(completed: UInt64, total: UInt64) {
        self.completed = completed
        self.total = total
    }

    /// The part that is done, 0 to 1.
    public var fraction: Double { total == 0 ? 1 : min(1, Double(completed) / Double(total)) }
}

/// Long work that is under way, for who did not ask for it.
package struct WorkUnderWay: Hashable, Sendable {
    /// When it began, in microseconds since 1970.
    package let start: UInt64
    package var progress: WorkProgress
}

/// Called every now and then during long work, on the thread that does it; returns `false` to have it stopped.
public typealias ProgressHandler = (WorkProgress) -> Bool

/// Counts what is done and tells a handler, not too often.
final class ProgressMeter {
    private let handler: ProgressHandler?
    var total: UInt64
    private var completed: UInt64 = 0
    private var told: UInt64 = 0

    /// A call for every so many bytes costs nothing that could be measured.
    private static let step: UInt64 = 1 << 18

    init(total: UInt64, _ handler: ProgressHandler?) {
        self.total = total
        self.handler = handler
    }

    /// Notes that `bytes` more are done.
    ///
    /// - Throws: ``StoreError/Code/cancelled`` when the handler wants the work to stop.
    func advance(_ bytes: UInt64) throws(StoreError) {
        completed += bytes
        guard completed - told >= ProgressMeter.step else { return }
        try tell()
    }

    /// Tells the handler that all is done, though what follows may still be stopped.
    func complete() throws(StoreError) {
        completed = total
        try tell()
    }

    /// Tells the handler where the work is.
    func tell() throws(StoreError) {
        told = completed
        guard let handler else { return }
        guard handler(WorkProgress(completed: min(completed, total), total: total)) else {
            throw StoreError(.cancelled, "The work was stopped before its end, as asked.")
        }
    }
}
