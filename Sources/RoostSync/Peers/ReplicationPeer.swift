import Roost
import RoostWire

/// One side of a replication: a database here, or one elsewhere.
///
/// All calls may be repeated: writing a revision that is known already changes nothing.
package protocol ReplicationPeer: Sendable {
    /// What tells the database from all others, without secrets. Part of the replication's ID.
    func identity() async throws -> String

    /// The documents that changed after `position`, oldest first, with their leaves.
    ///
    /// - Parameters:
    ///   - position: Where to go on; `nil` for the beginning. One that the database does not know, because it was restored or
    ///     made anew, counts as the beginning.
    ///   - limit: How many documents at most.
    ///   - selection: Which documents, and which of their leaves.
    func changes(
        after position: SourcePosition?, limit: Int, _ selection: ReplicationSelection
    ) async throws -> ChangeBatch

    /// Returns when there may be changes after `position`.
    func untilChanged(after position: SourcePosition?) async throws

    /// Of the offered leaves those that are not known here.
    func missing(_ offered: [ChangedDocument]) async throws -> [WantedRevisions]

    /// Reads revisions with their histories.
    func read(
        _ wanted: [WantedRevisions], _ selection: ReplicationSelection
    ) async throws -> [Result<CarriedRevision, ReplicationProblem>]

    /// Stores revisions, durably, with the content of their attachments.
    ///
    /// - Returns: What was refused, document by document; all others are stored.
    func write(_ revisions: [CarriedRevision]) async throws -> [ReplicationProblem]

    /// The checkpoint that was saved under `id`; `nil` when there is none.
    func checkpoint(_ id: String) async throws -> Checkpoint?

    /// Saves a checkpoint in a local document, durably.
    func save(_ checkpoint: Checkpoint, as id: String) async throws
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
}

/// Changes that stand one after another at the source.
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

/// Revisions of a document that a target lacks.
package struct WantedRevisions: Sendable {
    package let id: String
    package let revisions: [RevisionID]
    /// Leaves of the target that they may be edits of: attachments that came with those are there already.
    package let possibleAncestors: [RevisionID]
}

/// A revision on its way. The content of its attachments stays at the source until it is asked for.
package struct CarriedRevision: Sendable {
    package let id: String
    package let revision: RevisionID
    /// The highest generation of what the target has that this may be an edit of; 0 for none. Attachments that are not newer
    /// than that are there already.
    package let knownGeneration: UInt64
    package let content: Content
    /// Reads the content of the attachment of that name.
    package let attachment: @Sendable (_ name: String) async throws -> any BodyStream

    /// What the revision is.
    package enum Content: Sendable {
        /// A document of a database in this process, with its history, and what makes its JSON text.
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
