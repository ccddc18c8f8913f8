import Roost
import RoostWire

/// What a user sees of a snapshot of a database: everything, or the documents in their channels. What is not seen is answered as what is
/// absent.
///
/// The decision is made before anything of a document is read, from the record of its channels. An absent document takes the same way,
/// so that neither the answer nor the work distinguishes it from a hidden one.
struct Visibility: Sendable {
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

        /// The leaves that the record of the channels has.
        var leafCount: Int { routed?.leaves.count ?? 0 }

        /// Whether a leaf is seen. Users of channels see leaves only, never earlier revisions.
        func sees(_ revision: RevisionID) -> Bool {
            guard let access else { return true }
            return access.sees(routed?.leaves[revision])
        }

        /// Whether the document left a channel by this revision while the user saw it there.
        func saw(leaveBy revision: RevisionID) -> Bool {
            guard let access, let routed else { return false }
            // Most places have none, and thousands of revisions may be asked about.
            return routed.places.contains { channel, place in
                place.left == revision
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

    /// As ``winner(_:)``, unless the body takes more than `length` bytes in the file.
    func winner(_ id: String, upTo length: Int) throws -> SizedDocument? {
        let look = try look(at: id)
        guard !look.isHidden, let found = try snapshot.document(id, upTo: length) else { return nil }
        guard case .read(let winner) = found else { return .larger }
        return look.sees(winner.revision) ? found : nil
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

    // MARK: Revisions

    /// Whether a leaf of a document is seen.
    func sees(_ id: String, _ revision: RevisionID) throws -> Bool { try look(at: id).sees(revision) }

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

/// What a user sees of the revisions of one document: the record of its channels is read first, and its revisions only where that lets
/// the user see any. Both are decoded once, however many revisions are requested.
final class SeenDocument {
    /// What is found of a requested revision.
    enum Found {
        /// One that is there; its body is not read yet.
        case revision(RevisionID)
        case missing(String)
        /// One by which the document left what the user sees.
        case removed(RevisionID)
    }

    let id: String
    let snapshot: CollectionSnapshot
    private let look: Visibility.Look
    /// `nil` where the document is absent or not seen.
    let revisions: DocumentRevisions?
    /// Those of a document that left what the user sees.
    private var revisionsOfRemoved: DocumentRevisions?

    init(_ id: String, _ visibility: Visibility) throws {
        self.id = id
        snapshot = visibility.snapshot
        look = try visibility.look(at: id)
        revisions = look.isHidden ? nil : try snapshot.documentRevisions(id)
    }

    /// How much was decoded, in revisions.
    var weight: Int { (revisions?.count ?? 0) + look.leafCount }

    /// The leaves that are seen, the winner first.
    var leaves: [RevisionID] { revisions?.leaves.filter(look.sees) ?? [] }

    /// The document at a revision that is seen; `nil` where there is none.
    func document(_ revision: RevisionID) throws -> Document? {
        look.sees(revision) ? try revisions?.document(revision) : nil
    }

    /// What the user gets for a revision by which the document was removed.
    func removed(_ revision: RevisionID) throws -> RemovedDocument {
        let all = try revisions ?? revisionsOfRemoved ?? snapshot.documentRevisions(id)
        revisionsOfRemoved = all
        return RemovedDocument(id: id, revision: revision, history: all?.history(of: revision) ?? [])
    }

    /// What there is of the revisions that `texts` name; with `latest`, the leaves that came of them.
    ///
    /// - Throws: 400 for what can be no revision.
    func find(_ texts: [String], latest: Bool) throws -> [Found] {
        var found: [Found] = []
        var seen: Set<RevisionID> = []
        for text in texts {
            guard let revision = try RevisionID.possible(text) else {
                found.append(.missing(text))
                continue
            }
            let meant = latest ? revisions?.leaves(descendingFrom: revision) ?? [] : [revision]
            let present = try meant.filter { try look.sees($0) && revisions?.hasBody($0) == true }
            if present.isEmpty {
                found.append(
                    look.saw(leaveBy: revision) ? .removed(revision) : .missing(text))
            }
            for revision in present where seen.insert(revision).inserted { found.append(.revision(revision)) }
        }
        return found
    }
}

/// The documents that a request has asked for: those with many revisions are kept, since a request may ask for each of them, and
/// decoding all for each would take quadratic time.
final class SeenDocumentCache {
    private let visibility: Visibility
    private var kept: [ByteKey: SeenDocument] = [:]
    private var weight = 0

    /// The revisions from which on a document is kept, and the most that are kept of all.
    private static let leastWeight = 16
    private static let mostWeight = 250_000

    init(_ visibility: Visibility) { self.visibility = visibility }

    func document(_ id: String) throws -> SeenDocument {
        if !kept.isEmpty, let known = kept[ByteKey(id)] { return known }
        let document = try SeenDocument(id, visibility)
        guard document.weight >= Self.leastWeight else { return document }
        if weight + document.weight > Self.mostWeight { (kept, weight) = ([:], 0) }
        kept[ByteKey(id)] = document
        weight += document.weight
        return document
    }
}

/// A revision by which a document left what a user sees, as they get it: a tombstone, which replicators understand, without anything of
/// its content.
struct RemovedDocument: Sendable {
    let id: String
    let revision: RevisionID
    /// The revision and its ancestors, newest first.
    let history: [RevisionID]

    var text: [UInt8] {
        ([
            "_id": .string(id), "_rev": .string(revision.description), "_deleted": true,
            "_revisions": DocumentText.revisions(history),
        ] as JSON).bytes
    }

    var part: MultipartBody.Part {
        MultipartBody.Part(
            headers: [
                "X-Doc-Id": id, "X-Rev-Id": revision.description, "Content-Type": "application/json",
            ],
            body: .bytes(text))
    }
}
