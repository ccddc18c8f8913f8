import Roost

/// What a user sees of a snapshot of a database: everything, or the documents in their channels. What is not seen is answered as what is
/// absent.
///
/// The decision is made before anything of a document is read, from the record of its channels. An absent document takes the same way,
/// so that neither the answer nor the work distinguishes it from a hidden one.
struct Sight: Sendable {
    /// Everything is seen where it is `nil`.
    let access: ChannelAccess?
    let snapshot: CollectionSnapshot

    /// What is seen of one document, by its channels alone.
    struct Look {
        fileprivate let access: ChannelAccess?
        fileprivate let routed: RoutedDocument?

        /// Whether no leaf is seen; also `true` for absent documents, unless the user sees everything.
        var isHidden: Bool {
            guard let access else { return false }
            return routed?.leaves.values.contains(where: access.sees) != true
        }

        /// Whether a leaf is seen. Users of channels see leaves only, never earlier revisions.
        func sees(_ revision: RevisionID) -> Bool {
            guard let access else { return true }
            return access.sees(routed?.leaves[revision.description])
        }

        /// Whether the document left a channel by this revision while the user saw it there.
        func saw(leaveBy revision: RevisionID) -> Bool {
            guard let access, let routed else { return false }
            return routed.places.contains { channel, place in
                place.left == revision.description
                    && place.stays.periods.contains { access.held(channel, within: $0) }
            }
        }
    }

    /// Looks at a document's channels.
    func look(at id: String) throws -> Look {
        guard access != nil else { return Look(access: nil, routed: nil) }
        let record = try snapshot.annotation(ChannelKey.document(id))
        // Reading one is what takes time, so one is read for absent documents, too.
        let routed = try RoutedDocument(record: record ?? RoutedDocument.usualRecord)
        return Look(access: access, routed: record == nil ? nil : routed)
    }

    // MARK: Documents

    /// The document's winner, also where that is a tombstone; `nil` where it is absent or not seen.
    func winner(_ id: String) throws -> Document? {
        let look = try look(at: id)
        guard !look.isHidden, let winner = try snapshot.document(id, includingDeleted: true),
            look.sees(winner.revision)
        else { return nil }
        return winner
    }

    /// As ``winner(_:)``, of several documents.
    func winners(_ ids: [String]) throws -> [Document?] {
        guard access != nil else { return try snapshot.documents(ids: ids, includingDeleted: true) }
        return try ids.map { try winner($0) }
    }

    /// The document; `nil` where it is absent, deleted or not seen.
    func live(_ id: String) throws -> Document? { try winner(id).flatMap { $0.isDeleted ? nil : $0 } }

    /// Whether a document is there, not deleted, and seen. Its body is not read.
    func seesLive(_ id: String) throws -> Bool {
        try winningRevision(id).map { !$0.isDeleted } ?? false
    }

    /// The document's winning revision, also where that is a tombstone; `nil` where it is absent or not seen. Its body is not read.
    func winningRevision(_ id: String) throws -> (revision: RevisionID, isDeleted: Bool)? {
        let look = try look(at: id)
        guard !look.isHidden, let winner = try snapshot.winner(of: id), look.sees(winner.revision) else {
            return nil
        }
        return winner
    }

    /// A revision of a document; `nil` where it is absent or not seen.
    func document(_ id: String, revision: RevisionID) throws -> Document? {
        guard try look(at: id).sees(revision) else { return nil }
        return try snapshot.document(id, revision: revision)
    }

    /// The leaves of a document that are seen, the winner first.
    func leaves(_ id: String) throws -> [Document] {
        let look = try look(at: id)
        return look.isHidden ? [] : try snapshot.openRevisions(of: id, where: look.sees)
    }

    // MARK: Revisions

    /// Whether a leaf of a document is seen.
    func sees(_ id: String, _ revision: RevisionID) throws -> Bool { try look(at: id).sees(revision) }

    /// The revisions of the leaves of a document that are seen, the winner first.
    func leafRevisions(_ id: String) throws -> [RevisionID] {
        let look = try look(at: id)
        return look.isHidden ? [] : try snapshot.leaves(of: id).map(\.id).filter(look.sees)
    }

    /// Which of the revisions that a replicator offers are missing, and what they may be edits of, as far as it is seen.
    func differences(
        _ offered: [(id: String, texts: [String])]
    ) throws -> [(missing: [RevisionID], possibleAncestors: [RevisionID])] {
        let asked = try offered.map { ($0.id, try RevisionID.named($0.texts)) }
        guard access != nil else {
            return try snapshot.missingRevisions(from: asked).map { ($0.missing, $0.possibleAncestors) }
        }
        return try asked.map { id, revisions in
            let look = try look(at: id)
            guard !look.isHidden else { return (revisions.filter { !look.saw(leaveBy: $0) }, []) }
            let seen = try snapshot.ancestry(of: id, leaves: look.sees)
            let known = try snapshot.missingRevisions(of: id, from: revisions)
            return (
                revisions.filter { !seen.contains($0) && !look.saw(leaveBy: $0) },
                known.possibleAncestors.filter(look.sees)
            )
        }
    }
}
