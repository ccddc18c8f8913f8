import RoostBytes
import Synchronization

/// A value that is changed and saved again, and knows the revision that it was read or saved at last: a
/// ``MutableDocument``, a ``Versioned`` value, or a type of the program's own.
///
/// ``WriteTransaction/save(_:in:expecting:onConflict:)`` saves it in place of that revision, so that an edit based on an
/// older state never replaces a newer one unnoticed.
public protocol DocumentDraft {
    /// The document that the draft is of, and the revision that it was read or saved at last.
    var origin: DraftOrigin { get set }

    /// The document that the draft is to become.
    ///
    /// - Throws: `invalidDocument`, `invalidDocumentID`, `limitExceeded`, `corruptRevisionData`.
    func content() throws(DatabaseError) -> IncomingDocument

    /// Takes from a saved document what saving may have added. ``origin`` is up to date already.
    mutating func adopt(_ document: Document)
}

extension DocumentDraft {
    /// Takes nothing.
    public mutating func adopt(_ document: Document) {}
}

/// The document that a draft is of, and the revision that it was read or saved at last.
public struct DraftOrigin: Sendable {
    /// The document's ID; `nil` until a new document is saved for the first time, if none was given.
    public private(set) var id: String?
    /// The revision before the transaction in which the draft was saved last.
    private var base: RevisionID?
    private var saved: (revision: RevisionID, outcome: TransactionOutcome)?

    /// The origin of a draft of a new document.
    ///
    /// - Parameter id: The document's ID; `nil` to have one made when it is saved.
    public init(id: String? = nil) { self.id = id }

    /// The origin of a draft that was copied from a document.
    public init(_ document: Document) {
        id = document.id
        base = document.revision
    }

    /// The revision that was read or saved last; `nil` before the first save of a new document. A transaction that was rolled
    /// back leaves the one from before.
    public var revision: RevisionID? {
        guard let saved, !saved.outcome.isUndone else { return base }
        return saved.revision
    }

    /// Records that the draft was saved as `document`, provided that the transaction is committed.
    mutating func record(_ document: Document, in outcome: TransactionOutcome) {
        if saved?.outcome !== outcome { base = revision }
        id = document.id
        saved = (document.revision, outcome)
    }
}

extension DraftOrigin: Hashable {
    /// Whether both are the same revision of the same document; IDs are compared byte by byte.
    public static func == (left: Self, right: Self) -> Bool {
        left.id.map { ByteKey($0) } == right.id.map { ByteKey($0) } && left.revision == right.revision
    }

    /// Hashes ID and revision.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id.map { ByteKey($0) })
        hasher.combine(revision)
    }
}

/// Whether a transaction was committed or rolled back. Drafts that were saved in it refer to it, so that they forget a revision
/// that was never committed.
final class TransactionOutcome: Sendable {
    private let state = Mutex((isCommitted: false, isUndone: false))

    /// Whether the transaction was rolled back.
    var isUndone: Bool { state.withLock { $0.isUndone } }

    func commit() { state.withLock { $0.isCommitted = true } }

    /// Does nothing after ``commit()``.
    func undo() { state.withLock { $0.isUndone = !$0.isCommitted } }
}

/// What saving a draft does when the document has been changed since the draft was read.
public enum SavePolicy<Draft>: Sendable {
    /// Throws `conflict`, and saves nothing.
    case failOnConflict
    /// Saves on top of the document as it is.
    case lastWriteWins
    /// Saves what the handler makes of both: the draft that was to be saved, and the document as it is, `nil` when it was
    /// deleted. The handler runs within the transaction; keep it short. `nil` from it throws `conflict`.
    case merge(@Sendable (_ mine: Draft, _ theirs: Document?) -> Draft?)
}

// MARK: - DocumentExpectation

/// What a document must be like for a change to it to be made: compare and swap.
public enum DocumentExpectation: Hashable, Sendable {
    /// Whatever it is: the change goes on top of the winner, or makes the document.
    case any
    /// There is no such document, or it is deleted.
    case absent
    /// This revision is a leaf: nobody has edited it since it was read.
    case revision(RevisionID)
}

extension RevisionTree {
    /// The revision that an edit becomes a child of, `nil` for a document's first.
    ///
    /// - Throws: `conflict` when the document is not as expected.
    func parent(for expectation: DocumentExpectation) throws(DatabaseError) -> RevisionID? {
        switch expectation {
        case .any: winner?.id
        case .absent: try parentForEdit(of: nil)
        case .revision(let base): try parentForEdit(of: base)
        }
    }
}
