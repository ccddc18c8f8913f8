import Fleece
import Roost
import RoostSync
import RoostWire

/// Saves what clients send, by the rules of every way in: design documents are for administrators of the database, `_users`
/// has rules of its own, and the app's validations are asked.
struct DocumentSaving: Sendable {
    let served: ServedDatabase
    let user: UserContext
    let mayDesign: Bool
    private let validations: [Hooks.Validation]
    /// The design documents that have a validation.
    private let designs: [Document]
    private let security: [UInt8]
    private let router: Router

    init(_ target: DatabaseContext) throws {
        served = target.served
        user = target.user
        mayDesign = target.security.isAdmin(target.user)
        router = target.context.router
        validations = router.hooks.validations.sorted { $0.key < $1.key }.map(\.value)
        designs = router.hooks.languages.isEmpty ? [] : try Self.validatingDesigns(served.collection)
        security = designs.isEmpty ? [] : try served.securityText()
    }

    /// What must happen before the write: in `_users`, passwords are derived, which takes long; in `_replicator`, documents must
    /// ask for what can be.
    func prepare(_ document: IncomingDocument, id: String) async throws -> IncomingDocument {
        if served.name.base == ReplicatorManager.databaseName {
            try ReplicationRoutes.check(document, id: id)
        }
        guard served.name.base == "_users" else { return document }
        router.accounts.forget()
        let old = try served.collection.get(id)
        return try await UsersDatabase.prepare(
            document, id: id, user: user, old: old, rounds: router.options.passwordRounds)
    }

    /// Saves an edit.
    ///
    /// - Returns: The new revision.
    func save(
        _ document: IncomingDocument, id: String, base: RevisionID?, in batch: WriteBatch
    ) throws -> RevisionID {
        guard !document.namesUnknownRevision else { throw HTTPFailure.conflict }
        try check(document, id, batch)
        let saved = try batch.save(
            document.properties, reserved: try document.reserved(), id: id, in: served.collection,
            expecting: base.map { .revision($0) } ?? .absent)
        return saved.revision
    }

    /// Saves a revision that was made elsewhere.
    func insert(_ document: IncomingDocument, id: String, in batch: WriteBatch) throws {
        let revision = try document.requireRevision()
        try check(document, id, batch)
        let history = document.history.isEmpty ? [revision] : document.history
        _ = try batch.insert(
            document.properties, reserved: try document.reserved(), id: id, history: history,
            in: served.collection)
    }

    private func check(_ document: IncomingDocument, _ id: String, _ batch: WriteBatch) throws {
        if id.hasPrefix("_design/"), !mayDesign {
            throw Security.refusal(user, "You are not a db or server admin.")
        }
        guard !validations.isEmpty || !designs.isEmpty, !id.hasPrefix("_design/") else { return }
        let old = try batch.get(id, in: served.collection)
        for validation in validations {
            try validation(document.examined(id), old, user)
        }
        for design in designs {
            guard let language = router.hooks.language(of: design) else { continue }
            let question = ValidationQuestion(
                new: document.text(id),
                old: old.map { Array($0.json(with: [.id, .revision, .attachments, .md5Digests]).utf8) },
                user: user.json(in: served.name.text).bytes, security: security)
            if let refusal = try language.validate(question, of: design) { throw refusal }
        }
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
        let document = try await prepare(document, id: id)
        return try await served.database.write { batch in
            try save(document, id: id, base: base, in: batch)
        }
    }

    /// Runs one write that inserts `document` alone.
    func insertAlone(_ document: IncomingDocument, id: String) async throws -> RevisionID {
        let document = try await prepare(document, id: id)
        try await served.database.write { batch in try insert(document, id: id, in: batch) }
        return try document.requireRevision()
    }
}
