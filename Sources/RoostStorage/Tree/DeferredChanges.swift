import RoostBytes

/// Changes of one tree that are logged at once and made later: what a transaction does not read back is applied to its trees
/// while the medium syncs the log, when a processor would otherwise have nothing to do.
///
/// The log is the queue. An operation may wait only where making it late ends in the same tree, which needs no more than
/// that operations on the same key keep their order. So it waits behind others that do, and never where its key might be
/// one of those being appended, which are logged after it.
final class DeferredChanges {
    private let start: OperationEncoder.Mark
    /// Where in the log the last of them ends.
    private var end = 0
    private(set) var count = 0
    /// How many more puts may be among them, beside deletions.
    private var putsLeft: Int
    /// Whether all entries to be deleted are known to be there and to own no value.
    private(set) var deletesKnown = true

    init(start: OperationEncoder.Mark, puts: Int = .max) { (self.start, putsLeft) = (start, puts) }

    /// Whether one more put may be among them.
    var takesPut: Bool { putsLeft > 0 }

    /// Counts an operation that was just logged.
    @inline(__always)
    func add(endingAt end: Int, isPut: Bool = false, isKnown: Bool = true) {
        self.end = end
        count += 1
        if isPut { putsLeft -= 1 }
        if !isKnown { deletesKnown = false }
    }

    /// Notes that some of them were made. What was known of the entries may no longer be true.
    func noteAttempt() { deletesKnown = false }

    /// Calls `body` with each operation in `log` since the first of the changes; `log` must not change meanwhile.
    func forEach(
        in log: OperationEncoder, _ body: (LogOperation) throws(StoreError) -> Void
    ) throws(StoreError) {
        var decoder = OperationDecoder(log.buffer.view.slice(0, end), after: start)
        do throws(OperationDecoder.Failure<StoreError>) {
            while try decoder.next(body) {}
        } catch {
            switch error {
            case .malformed: preconditionFailure("what was just encoded can be decoded")
            case .body(let cause): throw cause
            }
        }
    }
}
