import Fleece
import Roost
import RoostWire
import Synchronization

/// What those who may refuse a document said of it: the app's validations, the functions of design documents and the sync function.
///
/// They are called before the write, since they may take long and no other write runs meanwhile. What they looked at is compared within
/// the write, and where it has changed they are asked once more.
struct Judgement: Sendable {
    /// What the sync function decided.
    let routing: Routing?
    /// What they looked at; `nil` where there was nothing to call.
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

/// The part of a snapshot of a database by which documents are judged.
final class JudgingMoment: Sendable {
    fileprivate let snapshot: CollectionSnapshot
    /// All design documents, with the sequences of their newest changes.
    fileprivate let designs: [(id: String, sequence: UInt64)]
    /// Those that have a validation.
    fileprivate let validating: [Document]
    fileprivate let security: [UInt8]
    /// What the user has access to, where there is a sync function.
    fileprivate let access: ChannelAccess?
    /// What the user sees of the document that was looked at last. Of one document thousands of revisions may come.
    private let visibility = Mutex<(id: ByteKey, visibility: WrittenVisibility)?>(nil)

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

    /// What a user of channels sees of a document.
    fileprivate func visibility(of id: String) throws -> WrittenVisibility {
        if let known = visibility.withLock(\.self), known.id == ByteKey(id) { return known.visibility }
        let found = WrittenVisibility(
            leaves: try snapshot.leaves(of: id),
            try RoutedDocument(record: snapshot.annotation(ChannelKey.document(id))), access)
        visibility.withLock { $0 = (ByteKey(id), found) }
        return found
    }
}

/// What a document was judged by is not so any more.
struct OutdatedJudgement: OutdatedRead {}

extension DocumentSaving {
    /// The present.
    func moment() throws -> JudgingMoment { try JudgingMoment(self) }

    /// Judges a document.
    ///
    /// - Parameters:
    ///   - history: What functions see as its revision and the ancestors: of an edit, the one that it is based on.
    ///   - moment: The snapshot to judge it by; the newest where it is `nil`.
    nonisolated(nonsending) func judge(
        _ document: RequestDocument, _ id: String, _ history: [RevisionID], at moment: JudgingMoment? = nil
    ) async throws -> Judgement {
        try gate.requireDesigner(id)
        guard asksAny, !id.begins(with: "_design/") else { return Judgement() }
        let moment = try moment ?? self.moment()
        guard isRouted || !validations.isEmpty || !moment.validating.isEmpty else { return Judgement() }
        guard !RequestWork.isUnderWay else {
            try Task.checkCancellation()
            return try judge(document, id, history, by: moment)
        }
        return try await work.respond { try judge(document, id, history, by: moment) }
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
        guard visibility.hidesNothing else { throw HTTPFailure.conflict }
        return Judgement(routing: routing, seen: seen)
    }

    private func visibility(of id: String, _ moment: JudgingMoment) throws -> WrittenVisibility {
        isLimited ? try moment.visibility(of: id) : .all
    }
}

/// What a user sees of a document that is to be written. One with a live leaf that is hidden is judged as an absent one by everything that
/// could refuse the write.
struct WrittenVisibility {
    /// Whether the user sees all live leaves.
    let isWhole: Bool
    /// Whether stubs may name attachments of the document.
    let lendsAttachments: Bool
    /// Whether no live leaf is hidden, be it because there is none: nobody learns more of a document with such a one by editing it.
    let hidesNothing: Bool

    /// Of a user who sees everything.
    static let all = WrittenVisibility(isWhole: true, lendsAttachments: true)

    private init(isWhole: Bool, lendsAttachments: Bool) {
        self.isWhole = isWhole
        self.lendsAttachments = lendsAttachments
        hidesNothing = true
    }

    init(leaves: [RevisionInfo], _ routed: RoutedDocument?, _ access: ChannelAccess?) {
        let hidden = leaves.filter { access?.sees(routed?.leaves[$0.id]) != true }
        hidesNothing = hidden.allSatisfy(\.isDeleted)
        isWhole = hidden.count < leaves.count && hidesNothing
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
    private let held: HeldRecords
    /// The sequences that the write itself gave to documents.
    private var own: [ByteKey: UInt64] = [:]
    /// The snapshot that was compared last, and whether its security object and design documents are still current.
    private var compared: (moment: JudgingMoment, isSame: Bool)?
    /// What the user has access to, and the number of withdrawals within the write when that was read.
    private var access: (access: ChannelAccess, withdrawals: Int)?
    /// The snapshot since which the user has lost nothing, and the same number.
    private var accessCompared: (moment: JudgingMoment, withdrawals: Int)?

    private init(_ batch: WriteTransaction, _ saving: DocumentSaving) {
        self.batch = batch
        self.saving = saving
        held = HeldRecords(batch, saving.served.collection)
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
            visibility = WrittenVisibility(
                leaves: try batch.leaves(of: id, in: collection), try ledger.document(id), try currentAccess()
            )
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
        if let accessCompared, accessCompared.moment === seen.moment,
            accessCompared.withdrawals == held.withdrawals
        {
            return
        }
        let access = try currentAccess()
        guard old.channels.isSubset(of: access.channels), old.roleNames.isSubset(of: access.roleNames) else {
            throw OutdatedJudgement()
        }
        accessCompared = (seen.moment, held.withdrawals)
    }

    /// What the user has access to: at least what was gained before the write, and nothing that was lost since. Read for each document, it
    /// would take time in proportion to all channels of the user each time.
    private func currentAccess() throws -> ChannelAccess {
        if let access, access.withdrawals == held.withdrawals { return access.access }
        let collection = saving.served.collection
        try held.writePrincipals()
        let present = try ChannelAccess(saving.user) { try batch.annotation($0, in: collection) }
        access = (present, held.withdrawals)
        return present
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
