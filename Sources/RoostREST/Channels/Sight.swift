import Roost

/// What somebody sees of a moment of a database: everything, or what stands in their channels. What is not seen is answered as what is
/// not there.
///
/// It is decided before anything of a document is read, by what is kept of its channels. A name that is absent takes the same way, so
/// that neither the answer nor the work tells it from a hidden one.
struct Sight: Sendable {
    /// Everything is seen where it is `nil`.
    let access: ChannelAccess?
    let snapshot: CollectionSnapshot

    // MARK: Documents

    /// The document's winner, also where that is a tombstone; `nil` where it is absent or not seen.
    func winner(_ id: String) throws -> Document? {
        guard let access else { return try snapshot.getIncludingDeleted(id) }
        guard let routed = try partlySeen(id, access), let winner = try snapshot.getIncludingDeleted(id),
            access.sees(routed.leaves[winner.revision.description])
        else { return nil }
        return winner
    }

    /// The document; `nil` where it is absent, deleted or not seen.
    func live(_ id: String) throws -> Document? { try winner(id).flatMap { $0.isDeleted ? nil : $0 } }

    /// As ``winner(_:)``, of several documents.
    func winners(_ ids: [String]) throws -> [Document?] {
        guard access != nil else { return try snapshot.documents(ids: ids, includingDeleted: true) }
        return try ids.map { try winner($0) }
    }

    /// A revision of a document; `nil` where it is absent or not seen. Of a document that somebody does not see whole, earlier revisions
    /// never are.
    func document(_ id: String, revision: RevisionID) throws -> Document? {
        guard try sees(id, revision) else { return nil }
        return try snapshot.document(id, revision: revision)
    }

    /// The leaves of a document that are seen, the winner first.
    func leaves(_ id: String) throws -> [Document] {
        guard let access else { return try snapshot.openRevisions(of: id) }
        guard let routed = try partlySeen(id, access) else { return [] }
        return try snapshot.leaves(of: id).filter { access.sees(routed.leaves[$0.id.description]) }
            .compactMap { try snapshot.document(id, revision: $0.id) }
    }

    /// The leaves that came of a revision and are seen.
    func leaves(_ id: String, descendingFrom revision: RevisionID) throws -> [RevisionID] {
        guard let access else { return try snapshot.leaves(of: id, descendingFrom: revision).map(\.id) }
        guard let routed = try partlySeen(id, access) else { return [] }
        return try snapshot.leaves(of: id, descendingFrom: revision).map(\.id)
            .filter { access.sees(routed.leaves[$0.description]) }
    }

    // MARK: Asking

    /// Whether a leaf of a document is seen.
    func sees(_ id: String, _ revision: RevisionID) throws -> Bool {
        guard let access else { return true }
        return access.sees(try routed(id)?.leaves[revision.description])
    }

    func sees(_ document: Document) throws -> Bool { try sees(document.id, document.revision) }

    /// Whether a document is there, not deleted, and seen. Its body is not read.
    func seesLive(_ id: String) throws -> Bool {
        guard let access else { return try snapshot.contains(id) }
        guard let routed = try partlySeen(id, access), let winner = try snapshot.winner(of: id) else {
            return false
        }
        return !winner.isDeleted && access.sees(routed.leaves[winner.revision.description])
    }

    /// Whether a revision is the one by which a document left a channel, which those are told who saw it there.
    func saw(_ id: String, leaveBy revision: RevisionID) throws -> Bool {
        guard let access else { return false }
        return try routed(id)?.places.contains { channel, place in
            place.left == revision.description
                && place.stays.periods.contains { access.held(channel, within: $0) }
        } == true
    }

    /// What is kept of a document's channels; `nil` where nothing is.
    func routed(_ id: String) throws -> RoutedDocument? {
        let record = try snapshot.annotation(ChannelKey.document(id))
        // Reading one is what takes time, so one is read for absent documents, too.
        let routed = try RoutedDocument(record: record ?? RoutedDocument.usualRecord)
        return record == nil ? nil : routed
    }

    /// What is kept of a document of which at least one leaf is seen.
    private func partlySeen(_ id: String, _ access: ChannelAccess) throws -> RoutedDocument? {
        guard let routed = try routed(id), routed.leaves.values.contains(where: access.sees) else {
            return nil
        }
        return routed
    }

    /// Which of the revisions that a replicator offers are missing, and what they may be edits of, as far as it is seen.
    func differences(
        _ offered: [(id: String, texts: [String])]
    ) throws -> [(missing: [RevisionID], possibleAncestors: [RevisionID])] {
        guard access == nil else { return try offered.map { try difference($0.id, $0.texts) } }
        let asked = try offered.map { ($0.id, try RevisionID.named($0.texts)) }
        return try snapshot.missingRevisions(from: asked).map { ($0.missing, $0.possibleAncestors) }
    }

    private func difference(
        _ id: String, _ texts: [String]
    ) throws -> (missing: [RevisionID], possibleAncestors: [RevisionID]) {
        let offered = try RevisionID.named(texts)
        guard let access, let routed = try partlySeen(id, access) else {
            return (try offered.filter { try !saw(id, leaveBy: $0) }, [])
        }
        var seen: Set<RevisionID> = []
        for leaf in try snapshot.leaves(of: id) where access.sees(routed.leaves[leaf.id.description]) {
            seen.formUnion(try snapshot.history(of: id, revision: leaf.id))
        }
        let missing = try offered.filter { try !seen.contains($0) && !saw(id, leaveBy: $0) }
        let known = try snapshot.missingRevisions(of: id, from: offered)
        return (missing, try known.possibleAncestors.filter { try sees(id, $0) })
    }
}
