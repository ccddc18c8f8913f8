import Roost
import Synchronization

/// What somebody sees of a moment of a database: everything, or what stands in their channels. What is not seen is answered as what is
/// not there.
struct Sight: Sendable {
    /// Everything is seen where it is `nil`.
    let access: ChannelAccess?
    let snapshot: CollectionSnapshot
    private let last = LastRouted()

    init(access: ChannelAccess?, snapshot: CollectionSnapshot) {
        self.access = access
        self.snapshot = snapshot
    }

    /// Whether a leaf of a document is seen. Of a document that somebody does not see whole, earlier revisions never are.
    func sees(_ id: String, _ revision: RevisionID) throws -> Bool {
        guard let access else { return true }
        return access.sees(try routed(id)?.leaves[revision.description])
    }

    func sees(_ document: Document) throws -> Bool { try sees(document.id, document.revision) }

    /// Whether a revision is the one by which a document left a channel, which those are told who saw it there.
    func saw(_ id: String, leaveBy revision: RevisionID) throws -> Bool {
        guard let access else { return false }
        return try routed(id)?.places.contains { channel, place in
            place.left == revision.description
                && place.stays.periods.contains { access.held(channel, within: $0) }
        } == true
    }

    func routed(_ id: String) throws -> RoutedDocument? {
        if let found = last.document(id) { return found }
        let found = try RoutedDocument(record: snapshot.annotation(ChannelKey.document(id)))
        last.set(id, found)
        return found
    }

    /// The record that was read last: a document with many conflicts is asked about once for each of them.
    private final class LastRouted: Sendable {
        private let state = Mutex<(id: ByteKey, document: RoutedDocument?)?>(nil)

        /// `nil` for another document than the last.
        func document(_ id: String) -> RoutedDocument?? {
            state.withLock { $0.flatMap { $0.id == ByteKey(id) ? .some($0.document) : nil } }
        }

        func set(_ id: String, _ document: RoutedDocument?) {
            state.withLock { $0 = (ByteKey(id), document) }
        }
    }

    /// Which of the revisions that a replicator offers are missing, and what they may be edits of, as far as it is seen.
    func difference(
        _ id: String, offered texts: [String], _ known: MissingRevisions
    ) throws -> (missing: [RevisionID], possibleAncestors: [RevisionID]) {
        guard access != nil else { return (known.missing, known.possibleAncestors) }
        var seen: Set<RevisionID> = []
        for leaf in try snapshot.leaves(of: id) where try sees(id, leaf.id) {
            seen.formUnion(try snapshot.history(of: id, revision: leaf.id))
        }
        let missing = try RevisionID.named(texts).filter { try !seen.contains($0) && !saw(id, leaveBy: $0) }
        return (missing, try known.possibleAncestors.filter { try sees(id, $0) })
    }
}
