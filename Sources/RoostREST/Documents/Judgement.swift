import Fleece
import Roost
import RoostWire

/// What those who may refuse a document said of it: the app's validations, the functions of design documents and the sync function.
///
/// They are asked before the write, since they may take long and nobody else writes meanwhile. What they looked at is compared within
/// the write, and where it has changed they are asked once more.
struct Judgement: Sendable {
    /// What the sync function decided.
    let routing: Routing?
    /// What they looked at; `nil` where there was nobody to ask.
    fileprivate let seen: Seen?

    init() { self.init(routing: nil, seen: nil) }

    fileprivate init(routing: Routing?, seen: Seen?) {
        self.routing = routing
        self.seen = seen
    }

    /// What a document was judged by.
    fileprivate struct Seen: Sendable {
        let moment: JudgingMoment
        /// That of the document's newest change; `nil` where there was no document.
        let sequence: UInt64?
    }
}

/// A moment of a database, as far as documents are judged by it.
final class JudgingMoment: Sendable {
    fileprivate let snapshot: CollectionSnapshot
    /// All design documents, with the sequences of their newest changes.
    fileprivate let designs: [(id: String, sequence: UInt64)]
    /// Those that have a validation.
    fileprivate let validating: [Document]
    fileprivate let security: [UInt8]
    /// What the user has access to, where there is a sync function.
    fileprivate let access: ChannelAccess?

    fileprivate init(_ saving: DocumentSaving) throws {
        let snapshot = try saving.served.collection.snapshot()
        self.snapshot = snapshot
        var designs: [(id: String, sequence: UInt64)] = []
        var validating: [Document] = []
        if saving.hasLanguages {
            var all = DocumentSelection(prefix: "_design/")
            all.includesDeleted = true
            let cursor = try snapshot.cursor(all)
            while let design = try cursor.next() {
                designs.append((design.id, design.sequence))
                if !design.isDeleted, design["validate_doc_update"].exists { validating.append(design) }
            }
        }
        (self.designs, self.validating) = (designs, validating)
        security =
            validating.isEmpty && !saving.isRouted
            ? [] : try ServedDatabase.securityText(snapshot.metadata(ServedDatabase.securityName))
        access = saving.isRouted ? try ChannelAccess(saving.user) { try snapshot.annotation($0) } : nil
    }
}

/// What a document was judged by is not so any more.
struct OutdatedJudgement: OutdatedRead {}

extension DocumentSaving {
    /// The present.
    func moment() throws -> JudgingMoment { try JudgingMoment(self) }

    /// Asks all who may refuse a document.
    ///
    /// - Parameters:
    ///   - history: What functions see as its revision and the ancestors: of an edit, the one that it is based on.
    ///   - moment: What they see; the present where it is `nil`.
    func judge(
        _ document: RequestDocument, _ id: String, _ history: [RevisionID], at moment: JudgingMoment? = nil
    ) async throws -> Judgement {
        try gate.requireDesigner(id)
        guard asksAny, !id.begins(with: "_design/") else { return Judgement() }
        let moment = try moment ?? self.moment()
        guard isRouted || !validations.isEmpty || !moment.validating.isEmpty else { return Judgement() }
        return try await work.respond {
            try Task.checkCancellation()
            return try judge(document, id, history, by: moment)
        }
    }

    private func judge(
        _ document: RequestDocument, _ id: String, _ history: [RevisionID], by moment: JudgingMoment
    ) throws -> Judgement {
        let snapshot = moment.snapshot
        let seen = Judgement.Seen(moment: moment, sequence: try snapshot.sequence(of: id))
        let visibility = try visibility(of: id, moment)
        // Nothing of a document that the user does not see whole is read.
        let old = visibility.isWhole ? try snapshot.document(id) : nil
        try visibility.requireOwn(document.stubs) { old?.attachments ?? [:] }
        for validation in validations {
            try validation(document.examined(id), old, user)
        }
        let text = { document.text(id, history) }
        let oldText = { try old.map { try snapshot.jsonBytes($0, with: SyncQuestion.metadata) } }
        for design in moment.validating {
            guard let language = language(of: design) else { continue }
            let question = ValidationQuestion(
                new: text(), old: try oldText(),
                user: user.json(in: served.name.text).bytes, security: moment.security)
            let refusal = try language.validate(question, of: design, in: served.collection)
            if let refusal { throw refusal }
        }
        guard let sync, let access = moment.access else { return Judgement(routing: nil, seen: seen) }
        let question = SyncQuestion(
            document: document.examined(id), old: old, text: text, oldText: oldText,
            database: served.name.text, collection: served.collection,
            security: moment.security)
        var decision = SyncDecision(
            user: user, isAdmin: !isLimited, channels: access.channels, roles: access.roleNames)
        try sync.decide(question, &decision)
        let routing = try decision.routing(sync.version)
        // Only now: what is refused is refused in the same words whether the name is taken or not.
        if isLimited { try requireSeen(id, moment) }
        return Judgement(routing: routing, seen: seen)
    }

    private func visibility(of id: String, _ moment: JudgingMoment) throws -> WrittenVisibility {
        guard isLimited else { return .all }
        return WrittenVisibility(
            leaves: try moment.snapshot.leaves(of: id),
            try RoutedDocument(record: moment.snapshot.annotation(ChannelKey.document(id))), moment.access)
    }

    /// - Throws: 409 for a document of which the user does not see all that is in it: nobody learns more of it by editing it.
    private func requireSeen(_ id: String, _ moment: JudgingMoment) throws {
        let leaves = try moment.snapshot.leaves(of: id).filter { !$0.isDeleted }
        guard !leaves.isEmpty else { return }
        let routed = try RoutedDocument(record: moment.snapshot.annotation(ChannelKey.document(id)))
        for leaf in leaves where moment.access?.sees(routed?.leaves[leaf.id.description]) != true {
            throw HTTPFailure.conflict
        }
    }
}

/// What a user sees of a document that is to be written. One with a live leaf that is hidden is judged as an absent one by everything that
/// could refuse the write.
struct WrittenVisibility {
    /// Whether the user sees all live leaves.
    let isWhole: Bool
    /// Whether stubs may name attachments of the document.
    let lendsAttachments: Bool

    /// Of a user who sees everything.
    static let all = WrittenVisibility(isWhole: true, lendsAttachments: true)

    private init(isWhole: Bool, lendsAttachments: Bool) {
        self.isWhole = isWhole
        self.lendsAttachments = lendsAttachments
    }

    init(leaves: [RevisionInfo], _ routed: RoutedDocument?, _ access: ChannelAccess?) {
        let hidden = leaves.filter { access?.sees(routed?.leaves[$0.id.description]) != true }
        isWhole = hidden.count < leaves.count && hidden.allSatisfy(\.isDeleted)
        lendsAttachments =
            isWhole && leaves.contains(where: \.hasAttachments) && !hidden.contains(where: \.hasAttachments)
    }

    /// Content is a user's by a revision of this document that the user sees, or by having sent it. A stub with the digest that contents
    /// are stored by could mean the content of any document, so it has to name that of this one. A stub of a document that has no
    /// attachments for the user is refused before anything is compared with its digest.
    ///
    /// - Parameter own: The attachments of the document's winner.
    /// - Throws: 412.
    func requireOwn(
        _ stubs: [(name: String, digest: String?)], _ own: () throws -> NamedValues<Attachment>
    ) throws {
        guard !stubs.isEmpty else { return }
        let own = lendsAttachments ? try own() : [:]
        for (name, digest) in stubs {
            if lendsAttachments {
                // By no digest, or an MD5, stubs find contents of this document only.
                guard let digest, !digest.begins(with: "md5-"),
                    own[name]?.digest.isIdentical(to: digest) != true
                else { continue }
            }
            throw HTTPFailure(412, "missing_stub", "The document has no attachment \(name) of this digest.")
        }
    }
}

/// A write of documents that were judged before.
final class JudgedWrite {
    let batch: WriteTransaction
    private let saving: DocumentSaving
    private let held: HeldRecord
    /// The sequences that the write itself gave to documents.
    private var own: [ByteKey: UInt64] = [:]
    /// Whether a moment's security object and design documents are still those, as it was found last.
    private var compared: (moment: JudgingMoment, isSame: Bool)?

    private init(_ batch: WriteTransaction, _ saving: DocumentSaving) {
        self.batch = batch
        self.saving = saving
        held = HeldRecord(batch, saving.served.collection)
    }

    /// Changes documents in a batch.
    ///
    /// - Throws: 401 or 403 when access was withdrawn since the request came: an upload may have taken long.
    static func run<R>(
        _ batch: WriteTransaction, _ saving: DocumentSaving, _ body: (JudgedWrite) throws -> R
    ) throws -> R {
        try saving.lease?.check()
        let write = JudgedWrite(batch, saving)
        let result = try body(write)
        try write.held.write()
        return result
    }

    /// The channels' records within the write.
    var ledger: ChannelLedger {
        ChannelLedger(batch: batch, collection: saving.served.collection, held: held)
    }

    /// Notes a change of the write's own.
    func note(_ id: String, _ judgement: Judgement) throws {
        if id.begins(with: "_design/") { compared = nil }
        guard judgement.seen != nil else { return }
        own[ByteKey(id)] = try batch.standing(of: id, in: saving.served.collection)?.sequence
    }

    /// Admits a document to the write, after the judgement and by what is stored now.
    ///
    /// - Parameter history: As in ``DocumentSaving/judge(_:_:_:at:)``.
    /// - Throws: What ``WriteGate`` throws; 412 for stubs; ``OutdatedJudgement``.
    func admit(
        _ document: RequestDocument, _ id: String, _ history: [RevisionID], isEdit: Bool,
        _ judgement: Judgement
    ) throws {
        try saving.gate.admit(
            WriteGate.Revision(
                id: id, properties: document.properties.root, isDeleted: document.isDeleted, parents: history,
                isEdit: isEdit, hasNewPassword: document.hasNewPassword), in: batch)
        try requireOwnStubs(document, id)
        try confirm(judgement, id, isEdit: isEdit)
    }

    /// - Throws: 412; see ``WrittenVisibility/requireOwn(_:_:)``.
    private func requireOwnStubs(_ document: RequestDocument, _ id: String) throws {
        let stubs = document.stubs
        guard !stubs.isEmpty else { return }
        let collection = saving.served.collection
        var visibility = WrittenVisibility.all
        if saving.isLimited {
            let access = try ChannelAccess(saving.user) { try batch.annotation($0, in: collection) }
            visibility = WrittenVisibility(
                leaves: try batch.leaves(of: id, in: collection), try ledger.document(id), access)
        }
        try visibility.requireOwn(stubs) { try batch.document(id, in: collection)?.attachments ?? [:] }
    }

    /// Compares with what a document was judged by.
    ///
    /// What the write itself has brought of a document that is inserted changes nothing: all its revisions were made elsewhere, and might
    /// have come in any order. Access that was gained changes nothing, either: who may do more now might have waited.
    ///
    /// - Throws: ``OutdatedJudgement``.
    private func confirm(_ judgement: Judgement, _ id: String, isEdit: Bool) throws {
        guard let seen = judgement.seen else { return }
        let collection = saving.served.collection
        let sequence = try batch.standing(of: id, in: collection)?.sequence
        guard sequence == seen.sequence || !isEdit && sequence == own[ByteKey(id)],
            try isSame(seen.moment)
        else { throw OutdatedJudgement() }
        guard let old = seen.moment.access else { return }
        let access = try ChannelAccess(saving.user) { try batch.annotation($0, in: collection) }
        guard old.channels.isSubset(of: access.channels), old.roleNames.isSubset(of: access.roleNames) else {
            throw OutdatedJudgement()
        }
    }

    private func isSame(_ moment: JudgingMoment) throws -> Bool {
        if let compared, compared.moment === moment { return compared.isSame }
        let isSame = try compare(moment)
        compared = (moment, isSame)
        return isSame
    }

    private func compare(_ moment: JudgingMoment) throws -> Bool {
        let collection = saving.served.collection
        if !moment.security.isEmpty {
            let security = try batch.metadata(ServedDatabase.securityName, in: collection)
            guard ServedDatabase.securityText(security) == moment.security else { return false }
        }
        guard saving.hasLanguages,
            try batch.lastSequence(in: collection) != moment.snapshot.lastSequence
        else { return true }
        guard try batch.count(ofIDs: "_design/", in: collection) == UInt64(moment.designs.count) else {
            return false
        }
        return try moment.designs.allSatisfy { design in
            try batch.standing(of: design.id, in: collection)?.sequence == design.sequence
        }
    }
}
