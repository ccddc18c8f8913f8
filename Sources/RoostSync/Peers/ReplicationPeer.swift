import Fleece
import Roost
import RoostWire

/// One side of a replication: a database here, or one elsewhere.
///
/// All calls may be repeated: writing a revision that is known already changes nothing.
package protocol ReplicationPeer: Sendable {
    /// Identifies the database, without secrets. Part of the replication's ID.
    func identity() async throws -> String

    /// The source of the function that this source's server filters its changes by; `nil` where there is none, or the server has none
    /// to show. Part of the replication's ID.
    func filterCode(_ selection: ReplicationSelection) async throws -> String?

    /// The documents that changed after `position`, oldest first, with their leaves.
    ///
    /// - Parameters:
    ///   - position: Where to go on; `nil` for the beginning. One that the database does not know, because it was restored or
    ///     created again, counts as the beginning.
    ///   - limit: How many documents at most.
    ///   - selection: Which documents, and which of their leaves.
    func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch

    /// The documents of these IDs with all of their leaves, those that are there.
    func leaves(of ids: [String]) async throws -> [ChangedDocument]

    /// Returns when there may be changes after `position`.
    func untilChanged(after position: SourcePosition?) async throws

    /// Of the offered leaves those that are not known here.
    func missing(_ offered: [ChangedDocument]) async throws -> [WantedRevisions]

    /// How many revisions are read at once, so that memory stays bounded whatever their size.
    var readSize: Int { get }

    /// Whether it can hold several leaves of a document. One that can't gets the winner, and may refuse that.
    var keepsConflicts: Bool { get }

    /// Tells a source what the target lacks of the documents that ``changes(after:limit:_:)`` or ``leaves(of:)`` gave last: once for each
    /// call of these, in their order, before any of it is read.
    func choose(_ wanted: [WantedRevisions]) async throws

    /// Releases what it holds between the tries of a replication.
    func rest() async

    /// Reads revisions with their histories, those that are selected. A source may give them in any order, and not all at once.
    func read(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> ReadRevisions

    /// Stores revisions, durably, with the content of their attachments.
    ///
    /// - Returns: What was refused, document by document; all others are stored.
    func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem]

    /// The checkpoint that was saved under `id`; `nil` when there is none.
    func checkpoint(_ id: String) async throws -> Checkpoint?

    /// Saves a checkpoint in a local document, durably.
    func save(_ checkpoint: Checkpoint, as id: String) async throws
}

extension ReplicationPeer {
    package var readSize: Int { 100 }

    package var keepsConflicts: Bool { true }

    package func choose(_ wanted: [WantedRevisions]) async throws {}

    package func rest() async {}
}

/// Where in a source's changes a reader is, in the source's own words. It is never compared or taken apart here.
package struct SourcePosition: Sendable, Hashable, Codable {
    /// JSON text: a number, a string or an array.
    package let json: String

    package init(json: String) { self.json = json }

    package init(from decoder: any Decoder) throws {
        json = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }
}

/// A document that changed, with the leaves that it has.
package struct ChangedDocument: Sendable {
    package let id: String
    package let leaves: [RevisionID]
    /// The leaves that can't be carried because their names are no revision IDs here.
    package var problems: [ReplicationProblem] = []
}

/// Consecutive changes of the source.
package struct ChangeBatch: Sendable {
    /// Those that are selected.
    package let documents: [ChangedDocument]
    /// Where the reader is after them.
    package let position: SourcePosition
    /// How many changes come after them, where that is known.
    package let pending: Int?
    /// Whether nothing comes after them at present.
    package let isLast: Bool
}

/// What became of reading revisions.
package struct ReadRevisions: Sendable {
    /// A revision that the source did not give.
    struct Withheld: Sendable {
        /// The document with this revision alone.
        let wanted: WantedRevisions
        /// Whether the source says that it has no such revision: it may have been edited or removed since.
        let isMissing: Bool
        let problem: ReplicationProblem
    }

    var carried: [CarriedRevision] = []
    /// The revisions that were given and can't be carried.
    var problems: [ReplicationProblem] = []
    /// The revisions that the source may return in another try.
    var withheld: [Withheld] = []
    /// The revisions that the source will give, in further reads.
    var remaining: [WantedRevisions] = []

    static func += (left: inout Self, right: Self) {
        left.carried += right.carried
        left.problems += right.problems
        left.withheld += right.withheld
        left.remaining += right.remaining
    }

    /// Notes that the source says it has no such revision.
    mutating func addMissing(_ revision: RevisionID, of document: WantedRevisions, _ cause: any Error) {
        add(revision, of: document, isMissing: true, cause)
    }

    /// Notes that the source failed to give the revision.
    mutating func addFailed(_ revision: RevisionID, of document: WantedRevisions, _ cause: any Error) {
        add(revision, of: document, isMissing: false, cause)
    }

    private mutating func add(
        _ revision: RevisionID, of document: WantedRevisions, isMissing: Bool, _ cause: any Error
    ) {
        withheld.append(
            Withheld(
                wanted: WantedRevisions(
                    id: document.id, revisions: [revision], possibleAncestors: document.possibleAncestors),
                isMissing: isMissing, problem: ReplicationProblem(document.id, revision, cause)))
    }
}

/// Revisions of a document that a target lacks.
package struct WantedRevisions: Sendable {
    package let id: String
    package let revisions: [RevisionID]
    /// Leaves of the target that they may be edits of: attachments that came with those are there already.
    package let possibleAncestors: [RevisionID]
}

/// A revision that is being carried. The content of its attachments stays at the source until it is read.
package struct CarriedRevision: Sendable {
    package let id: String
    package let revision: RevisionID
    /// The highest generation of what the target has that this may be an edit of; 0 for none. Attachments that are not newer
    /// than that are there already.
    package let knownGeneration: UInt64
    package let content: Content
    /// Reads the content of the attachment of that name.
    package let attachment: @Sendable (_ name: String) async throws -> any BodyStream
    /// The blobs that the properties name, where the source has them apart from attachments.
    var blobs: [NamedBlob] = []
    /// Reads the content of the blob of that digest.
    var blob: (@Sendable (_ digest: String) async throws -> any BodyStream)?
    /// What was stored for it already.
    var held: [Blob] = []
    /// Tells a source that waits for it that the revision is stored, durably, or why it is not.
    var answer: (@Sendable (_ problem: ReplicationProblem?) -> Void)?

    /// What the revision is.
    package enum Content: Sendable {
        /// A document of a database in this process, with its history, and a function that returns its JSON text.
        case stored(Document, history: [RevisionID], json: @Sendable () throws -> [UInt8])
        /// JSON text as CouchDB's API gives it: with `_revisions`, and attachments as stubs.
        case json([UInt8])
    }

    /// JSON text as CouchDB's API gives it: with `_revisions`, and attachments as stubs.
    func json() throws -> [UInt8] {
        switch content {
        case .stored(_, _, let json): try json()
        case .json(let text): text
        }
    }
}

/// A blob that the properties of a document name.
package struct NamedBlob: Sendable {
    let digest: String
    let contentType: String?
    /// The blob that the property describes; `nil` where something of that is missing.
    let described: Blob?
}

/// Decides, within the write, whether a revision may be stored in a database of this process; throws where it may not.
package typealias ReplicationGate =
    @Sendable (
        _ id: String, _ properties: FleeceValue, _ isDeleted: Bool, _ history: [RevisionID],
        _ batch: WriteTransaction
    ) throws -> Void
