import Roost

/// What a user sees of the revisions of one document: the record of its channels is read first, and its revisions only where that lets
/// the user see any. Both are decoded once, however many revisions are asked for.
final class SeenDocument {
    /// What is found of a revision that is asked for.
    enum Found {
        /// One that is there; its body is not read yet.
        case revision(RevisionID)
        case missing(String)
        /// One by which the document left what the user sees.
        case removed(RevisionID)
    }

    let id: String
    let snapshot: CollectionSnapshot
    private let look: Sight.Look
    /// `nil` where the document is absent or not seen.
    let revisions: DocumentRevisions?
    /// Those of a document that left what the user sees.
    private var revisionsOfRemoved: DocumentRevisions?

    init(_ id: String, _ sight: Sight) throws {
        self.id = id
        snapshot = sight.snapshot
        look = try sight.look(at: id)
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
    private let sight: Sight
    private var kept: [ByteKey: SeenDocument] = [:]
    private var weight = 0

    /// The revisions from which on a document is kept, and the most that are kept of all.
    private static let leastWeight = 16
    private static let mostWeight = 250_000

    init(_ sight: Sight) { self.sight = sight }

    func document(_ id: String) throws -> SeenDocument {
        if !kept.isEmpty, let known = kept[ByteKey(id)] { return known }
        let document = try SeenDocument(id, sight)
        guard document.weight >= Self.leastWeight else { return document }
        if weight + document.weight > Self.mostWeight { (kept, weight) = ([:], 0) }
        kept[ByteKey(id)] = document
        weight += document.weight
        return document
    }
}
