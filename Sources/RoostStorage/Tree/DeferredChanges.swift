import RoostBytes
import Synchronization

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

// MARK: - DividedChanges

/// Changes that wait until a commit's bytes are complete, divided so that two threads can make them.
///
/// A part is what changes below one child of a tree's root, so no two parts touch the same node. Each thread takes one part
/// after the other.
final class DividedChanges: Sendable {
    struct Part: Sendable {
        /// Which child of the root it is.
        let index: Int
        /// The child as a tree of its own.
        let tree: TreeVersion
        /// As a log has them.
        let operations: [UInt8]
        /// See ``DeferredChanges/deletesKnown``.
        let deletesKnown: Bool
    }

    /// What has become of a child.
    struct Made: Sendable {
        let index: Int
        let top: MemoryNode
        /// How much more the subtree holds.
        let growth: Summary
        /// How many bytes more its pending changes take.
        let pendingBytes: Int
        /// See ``TreeVersion/fullLeaves``.
        let fullLeaves: [[UInt8]]
    }

    private let owner: UInt64
    private let file: DataFile
    private let nodeSize: Int
    private let shared: Mutex<Shared>

    private struct Shared {
        /// What nobody has begun.
        var parts: ArraySlice<Part>
        /// By the trees' numbers.
        var made: [UInt64: [Made]] = [:]
        var failure: StoreError?
    }

    init(_ parts: [Part], _ context: TreeEditor.Context) {
        (owner, file, nodeSize) = (context.owner, context.file, context.nodeSize)
        shared = Mutex(Shared(parts: parts[...]))
    }

    /// What has become of the children, by the trees' numbers, once both threads have returned.
    var made: [UInt64: [Made]] {
        get throws(StoreError) {
            let (made, failure) = shared.withLock { ($0.made, $0.failure) }
            if let failure { throw failure }
            return made
        }
    }

    /// Makes parts until none is left that nobody has begun.
    func make(in context: TreeEditor.Context) {
        while let part = take() { make(part, in: context) }
    }

    /// The same on another thread than the transaction's.
    func makeElsewhere() {
        make(in: TreeEditor.Context(owner: owner, file: file, output: nil, nodeSize: nodeSize))
    }

    private func take() -> Part? {
        shared.withLock { $0.failure == nil ? $0.parts.popFirst() : nil }
    }

    private func make(_ part: Part, in context: TreeEditor.Context) {
        do throws(StoreError) {
            let editor = try TreeEditor(part, context: context)
            try editor.seal()
            // The version's weight is from before, also where its node is the transaction's own and was changed in place.
            let made = Made(
                index: part.index, top: editor.top, growth: editor.top.summary - part.tree.weight.summary,
                pendingBytes: editor.pendingBytes, fullLeaves: editor.fullLeaves)
            shared.withLock { $0.made[part.tree.id, default: []].append(made) }
        } catch {
            shared.withLock { $0.failure = $0.failure ?? error }
        }
    }
}
