import Fleece
import Roost
import RoostWire

/// Saves what clients send, by the rules of every way in: design documents are for administrators of the database, `_users`
/// has rules of its own, and the app's validations are asked.
struct DocumentSaving: Sendable {
    let served: ServedDatabase
    let user: UserContext
    private let gate: WriteGate
    private let validations: [Hooks.Validation]
    /// The design documents that have a validation.
    private let designs: [Document]
    private let security: [UInt8]
    private let router: Router
    private let sync: SyncFunction?
    private let isLimited: Bool

    /// Whether the sync function is asked.
    var isRouted: Bool { sync != nil }

    init(_ target: DatabaseContext) throws {
        served = target.served
        user = target.user
        router = target.context.router
        gate = WriteGate(
            name: served.name, collection: served.collection, user: user,
            mayDesign: target.security.isAdmin(target.user), accounts: router.accounts)
        validations = router.hooks.validations.sorted { $0.key < $1.key }.map(\.value)
        designs = router.hooks.languages.isEmpty ? [] : try Self.validatingDesigns(served.collection)
        isLimited = target.isLimited
        sync = served.name.isSystem ? nil : router.hooks.sync
        security = designs.isEmpty && sync == nil ? [] : try served.securityText()
    }

    /// What must happen before the write: in `_users`, keys are derived from passwords, which takes long; functions of design documents
    /// are compiled.
    ///
    /// - Parameters:
    ///   - base: The revision that an edit is based on.
    ///   - isEdit: Whether it was edited here, and is not brought by a replicator: others have it then already.
    func prepare(
        _ document: IncomingDocument, id: String, base: RevisionID?, isEdit: Bool
    ) async throws -> IncomingDocument {
        if isEdit, gate.mayDesign, id.begins(with: "_design/"), !document.isDeleted {
            try await compile(document)
        }
        guard served.name.base == "_users" else { return document }
        let parents = isEdit ? base.map { [$0] } ?? [] : document.history
        return try await UsersDatabase.prepare(document, id: id, parents: parents, isEdit: isEdit, gate)
    }

    /// - Throws: 400 for a design document with a function of which nothing can be made, so that a mistake is told when it is saved.
    private func compile(_ document: IncomingDocument) async throws {
        let design = document.properties
        guard let language = router.hooks.language(of: design.root) else { return }
        do {
            try await router.workers.run { try language.check(design.root) }
        } catch let error as LanguageError {
            guard error.code != .unavailable else { return }
            throw HTTPFailure(400, "compilation_error", error.description)
        }
    }

    /// Saves an edit.
    ///
    /// - Returns: The new revision.
    func save(
        _ document: IncomingDocument, id: String, base: RevisionID?, in batch: WriteBatch
    ) throws -> RevisionID {
        guard !document.namesUnknownRevision else { throw HTTPFailure.conflict }
        let routing = try check(document, id, base.map { [$0] } ?? [], isEdit: true, batch)
        // Those of replicators come as they are: others have them already.
        if id.begins(with: "_design/"), !document.isDeleted {
            try DesignShape.check(document.properties.root)
        }
        let saved = try batch.save(
            document.properties, reserved: try document.reserved(), id: id, in: served.collection,
            expecting: base.map { .revision($0) } ?? .absent)
        try settle(id, saved.revision, routing, batch)
        return saved.revision
    }

    /// Saves a revision that was made elsewhere.
    ///
    /// - Throws: 403 also for what can't be stored, whoever asks: a replicator passes that over, and would try anything else for ever.
    func insert(_ document: IncomingDocument, id: String, in batch: WriteBatch) throws {
        let revision = try document.requireRevision()
        do {
            try insert(revision, of: document, id, batch)
        } catch let failure as UnsettledChannels {
            throw failure
        } catch {
            let failure = HTTPFailure(error)
            throw [400, 409].contains(failure.status) ? HTTPFailure.forbidden(failure.reason) : failure
        }
    }

    private func insert(
        _ revision: RevisionID, of document: IncomingDocument, _ id: String, _ batch: WriteBatch
    ) throws {
        let history = document.history.isEmpty ? [revision] : document.history
        let routing = try check(document, id, history, isEdit: false, batch)
        let isNew = try batch.insert(
            document.properties, reserved: try document.reserved(), id: id, history: history,
            in: served.collection)
        if isNew { try settle(id, revision, routing, batch) }
    }

    /// Asks all who may refuse a document; answers what the sync function decided on it.
    ///
    /// - Parameter history: What functions see as its revision and the ancestors: of an edit, the one that it is based on.
    private func check(
        _ document: IncomingDocument, _ id: String, _ history: [RevisionID], isEdit: Bool, _ batch: WriteBatch
    ) throws -> Routing? {
        try gate.admit(
            WriteGate.Revision(
                id: id, properties: document.properties.root, isDeleted: document.isDeleted, parents: history,
                isEdit: isEdit, hasNewPassword: document.hasNewPassword), in: batch)
        let isAsked = sync != nil || !validations.isEmpty || !designs.isEmpty
        let stubs = document.stubs
        // What is stored is read only where something depends on it.
        guard isAsked || !stubs.isEmpty else { return nil }
        let access = sync == nil ? nil : try self.access(batch)
        let present = try present(id, access, batch)
        try Self.requireOwn(stubs, present)
        guard isAsked, !id.begins(with: "_design/") else { return nil }
        let old = present.winner
        for validation in validations {
            try validation(document.examined(id), old, user)
        }
        let collection = served.collection
        let text = { document.text(id, history) }
        let oldText = {
            try old.map { try batch.jsonBytes($0, with: SyncQuestion.metadata, in: collection) }
        }
        for design in designs {
            guard let language = router.hooks.language(of: design) else { continue }
            let question = ValidationQuestion(
                new: text(), old: try oldText(),
                user: user.json(in: served.name.text).bytes, security: security)
            if let refusal = try language.validate(question, of: design, in: collection) { throw refusal }
        }
        guard let sync, let access else { return nil }
        let question = SyncQuestion(
            document: document.examined(id), old: old, text: text, oldText: oldText,
            database: served.name.text, collection: collection, security: security)
        var decision = SyncDecision(
            user: user, isAdmin: !isLimited, channels: access.channels, roles: access.roleNames)
        try sync.decide(question, &decision)
        let routing = try decision.routing(sync.version)
        // Only now: what is refused is refused in the same words whether the name is taken or not.
        if isLimited { try requireSeen(id, access, batch) }
        return routing
    }

    /// What a write may depend on of the document that is stored under its name.
    private struct Present {
        /// The live winner; `nil` also where the user does not see the whole document.
        let winner: Document?
        /// Whether stubs may name attachments of its leaves.
        let lendsAttachments: Bool
    }

    /// Reads what the user sees of a document that is to be written. A document with a live leaf that is hidden is judged as an absent
    /// one by everything that could refuse the write.
    private func present(_ id: String, _ access: ChannelAccess?, _ batch: WriteBatch) throws -> Present {
        guard isLimited else {
            return Present(winner: try batch.get(id, in: served.collection), lendsAttachments: true)
        }
        let routed = try ledger(batch).document(id)
        let absent = Present(winner: nil, lendsAttachments: false)
        guard let access, routed.leaves.values.contains(where: access.sees) else { return absent }
        let leaves = try batch.leaves(of: id, in: served.collection)
        let hidden = leaves.filter { !access.sees(routed.leaves[$0.id.description]) }
        guard hidden.allSatisfy(\.isDeleted) else { return absent }
        return Present(
            winner: try batch.get(id, in: served.collection),
            lendsAttachments: leaves.contains(where: \.hasAttachments)
                && !hidden.contains(where: \.hasAttachments))
    }

    /// - Throws: 409 for a document of which the user does not see all that is in it: nobody learns more of it by editing it.
    private func requireSeen(_ id: String, _ access: ChannelAccess?, _ batch: WriteBatch) throws {
        let leaves = try batch.leaves(of: id, in: served.collection).filter { !$0.isDeleted }
        let routed = try ledger(batch).document(id)
        for leaf in leaves where access?.sees(routed.leaves[leaf.id.description]) != true {
            throw HTTPFailure.conflict
        }
    }

    /// Content is a user's by a revision of this document that the user sees, or by having sent it. A stub with the digest that contents
    /// are stored by could mean the content of any document, so it has to name that of this one. A stub of a document that has no
    /// attachments for the user is refused before anything is compared with its digest.
    ///
    /// - Throws: 412.
    private static func requireOwn(_ stubs: [(name: String, digest: String?)], _ present: Present) throws {
        for (name, digest) in stubs {
            if present.lendsAttachments {
                // By no digest, or an MD5, stubs find contents of this document only.
                guard let digest, !digest.begins(with: "md5-"),
                    present.winner?.attachments[name]?.digest != digest
                else { continue }
            }
            throw HTTPFailure(412, "missing_stub", "The document has no attachment \(name) of this digest.")
        }
    }

    // MARK: Channels

    private func access(_ batch: WriteBatch) throws -> ChannelAccess {
        try ChannelAccess(user) { try batch.annotation($0, in: served.collection) }
    }

    private func settle(_ id: String, _ revision: RevisionID, _ routing: Routing?, _ batch: WriteBatch) throws
    {
        guard let routing else { return }
        do {
            try ledger(batch).settle(id, revision, routing)
        } catch {
            throw UnsettledChannels(cause: error)
        }
    }

    private func ledger(_ batch: WriteBatch) -> ChannelLedger {
        ChannelLedger(batch: batch, collection: served.collection)
    }

    private static func validatingDesigns(_ collection: DocumentCollection) throws -> [Document] {
        let cursor = try collection.snapshot().cursor(DocumentSelection(prefix: "_design/"))
        var designs: [Document] = []
        while let design = try cursor.next() {
            if design["validate_doc_update"].exists { designs.append(design) }
        }
        return designs
    }

    /// Runs one write that saves `document` alone.
    func saveAlone(
        _ document: IncomingDocument, id: String, base: RevisionID?
    ) async throws -> RevisionID {
        let document = try await prepare(document, id: id, base: base, isEdit: true)
        return try await served.database.write { batch in
            try save(document, id: id, base: base, in: batch)
        }
    }

    /// Runs one write that inserts `document` alone.
    func insertAlone(_ document: IncomingDocument, id: String) async throws -> RevisionID {
        let document = try await prepare(document, id: id, base: nil, isEdit: false)
        try await served.database.write { batch in try insert(document, id: id, in: batch) }
        return try document.requireRevision()
    }
}

/// The channels' records could not follow a document. It fails the whole write, so that neither stays without the other.
struct UnsettledChannels: Error {
    let cause: any Error
}
