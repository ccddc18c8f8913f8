import Fleece
import Roost
import RoostQuery
import RoostSync
import RoostWire

/// Saves what clients send, by the rules of every way in: design documents are for administrators of the database, `_users`
/// has rules of its own, and the app's validations are asked.
struct DocumentSaving: Sendable {
    let served: ServedDatabase
    let user: UserContext
    let gate: WriteGate
    let validations: [Hooks.Validation]
    let sync: SyncFunction?
    let isLimited: Bool
    let work: RequestWork
    /// What the request was let in by.
    let lease: AccessLease?
    private let memory: RequestMemory
    private let router: Router

    /// How often a document is judged again because others have changed what it was judged by.
    private static let mostAttempts = 5

    /// Whether the sync function is asked.
    var isRouted: Bool { sync != nil }

    /// Whether design documents may have functions that are asked.
    var hasLanguages: Bool { !router.hooks.languages.isEmpty }

    /// Whether there may be anybody to ask about documents.
    var asksAny: Bool { isRouted || hasLanguages || !validations.isEmpty }

    init(_ target: DatabaseContext) {
        served = target.served
        user = target.user
        router = target.context.router
        gate = WriteGate(
            name: served.name, collection: served.collection, user: user,
            mayDesign: target.security.isAdmin(target.user), accounts: router.accounts)
        work = target.context.work
        lease = target.context.lease
        memory = target.context.memory
        validations = router.hooks.validations.sorted { $0.key < $1.key }.map(\.value)
        isLimited = target.isLimited
        sync = served.name.isSystem ? nil : router.hooks.sync
    }

    func language(of design: Document) -> (any DesignLanguage)? { router.hooks.language(of: design) }

    /// What must happen before the write: in `_users`, keys are derived from passwords, which takes long; functions of design documents
    /// are compiled.
    ///
    /// - Parameters:
    ///   - base: The revision that an edit is based on.
    ///   - isEdit: Whether it was edited here, and is not brought by a replicator: others have it then already.
    nonisolated(nonsending) func prepare(
        _ document: RequestDocument, id: String, base: RevisionID?, isEdit: Bool
    ) async throws -> RequestDocument {
        if isEdit, gate.mayDesign, id.begins(with: "_design/"), !document.isDeleted {
            try await compile(document)
        }
        guard served.name.base == "_users" else { return document }
        let parents = isEdit ? base.map { [$0] } ?? [] : document.lineage
        return try await UsersDatabase.prepare(document, id: id, parents: parents, isEdit: isEdit, gate)
    }

    /// - Throws: 400 for a design document with a function that does not compile, so that a mistake shows when it is saved.
    private func compile(_ document: RequestDocument) async throws {
        let design = document.properties
        guard let language = router.hooks.language(of: design.root) else { return }
        do {
            try await work.run { try language.check(design.root) }
        } catch let error as LanguageError {
            guard error.code != .unavailable else { return }
            throw HTTPFailure(400, "compilation_error", error.description)
        }
    }

    /// Stores the content of attachments that is part of a document's text: files are made durable one by one, which no
    /// else's write should have to wait for.
    ///
    /// - Throws: 413 for content that is longer than an attachment may be.
    nonisolated(nonsending) func storeInline(
        _ document: RequestDocument
    ) async throws -> RequestDocument {
        // Counted as it is sent, in base64.
        let room = document.attachments.reduce(0) { room, attachment in
            guard document.contents[attachment.name] == nil else { return room }
            return room + (attachment.value["data"].string?.utf8.count ?? 0)
        }
        guard room > 0 else { return document }
        try await memory.reserveUpload(room)
        let database = served.database
        let longest = router.options.longestAttachment
        return try await work.respond {
            var document = document
            for (name, value) in document.attachments
            where document.contents[name] == nil && value["data"].exists {
                try Task.checkCancellation()
                do {
                    document.contents[name] = try database.storeInline(name, value, longest: longest)
                } catch let error as DatabaseError where error.code == .limitExceeded {
                    throw HTTPFailure.attachmentTooLarge(longest)
                }
            }
            return document
        }
    }

    // MARK: Writing

    /// Saves an edit.
    ///
    /// - Returns: The new revision.
    /// - Throws: ``OutdatedJudgement`` where it has to be judged once more.
    func save(
        _ document: RequestDocument, id: String, base: RevisionID?, _ judgement: Judgement,
        in write: JudgedWrite
    ) throws -> RevisionID {
        guard !document.namesUnknownRevision else { throw HTTPFailure.conflict }
        try write.admit(document, id, base.map { [$0] } ?? [], isEdit: true, judgement)
        // Those of replicators come as they are: others have them already.
        if id.begins(with: "_design/"), !document.isDeleted {
            try DesignShape.check(document.properties.root)
        }
        let saved = try write.batch.save(
            document.properties, reserved: try document.reserved(), contents: document.contents, id: id,
            in: served.collection,
            expecting: base.map { .revision($0) } ?? .absent)
        try settle(id, saved.revision, judgement.routing, write)
        try write.note(id, judgement)
        return saved.revision
    }

    /// Saves a revision that was made elsewhere.
    ///
    /// - Parameter replacesWinner: Whether it must descend from the document's winner, if that is no tombstone.
    /// - Throws: 409 where it must and does not; 403 also for what can't be stored, for every user: a replicator skips it, and would retry anything else for ever;
    ///   ``OutdatedJudgement`` where it has to be judged once more.
    func insert(
        _ document: RequestDocument, id: String, _ judgement: Judgement, replacesWinner: Bool = false,
        in write: JudgedWrite
    ) throws {
        let revision = try document.requireRevision()
        if replacesWinner, let standing = try write.batch.standing(of: id, in: served.collection),
            !standing.isDeleted, !document.lineage.contains(standing.winner)
        {
            throw HTTPFailure.conflict
        }
        do {
            try write.admit(document, id, document.lineage, isEdit: false, judgement)
            let isNew = try write.batch.insert(
                document.properties, reserved: try document.reserved(), contents: document.contents, id: id,
                history: document.lineage,
                in: served.collection)
            write.batch.name(document.blobs)
            if isNew { try settle(id, revision, judgement.routing, write, history: document.lineage) }
            try write.note(id, judgement)
        } catch let failure as UnsettledChannels {
            throw failure
        } catch let failure as OutdatedJudgement {
            throw failure
        } catch {
            throw Self.failure(ofInserting: error)
        }
    }

    static func failure(ofInserting error: any Error) -> HTTPFailure {
        let failure = HTTPFailure(error)
        return [400, 409].contains(failure.status) ? HTTPFailure.forbidden(failure.reason) : failure
    }

    // MARK: Channels

    private func settle(
        _ id: String, _ revision: RevisionID, _ routing: Routing?, _ write: JudgedWrite,
        history: [RevisionID]? = nil
    ) throws {
        guard let routing else { return }
        do {
            try write.ledger.settle(id, revision, routing, history: history)
        } catch {
            throw UnsettledChannels(cause: error)
        }
    }

    // MARK: Alone

    /// Runs one write that saves `document` alone.
    func saveAlone(
        _ document: RequestDocument, id: String, base: RevisionID?
    ) async throws -> RevisionID {
        let document = try await prepare(document, id: id, base: base, isEdit: true)
        return try await writePrepared(document, id: id, base: base)
    }

    /// Runs one write that inserts `document` alone.
    func insertAlone(_ document: RequestDocument, id: String) async throws -> RevisionID {
        let document = try await prepare(document, id: id, base: nil, isEdit: false)
        try await insertPrepared(document, id: id)
        return try document.requireRevision()
    }

    /// Saves an edit that was prepared.
    ///
    /// - Throws: 409 where what it is judged by does not stop changing.
    func writePrepared(
        _ document: RequestDocument, id: String, base: RevisionID?
    ) async throws -> RevisionID {
        try await repeating(orElse: .conflict) {
            let (judgement, document) = try await admit(document, id, isEdit: true, base: base)
            return try await served.database.write(for: work.owner) { batch in
                try JudgedWrite.run(batch, self) { write in
                    try save(document, id: id, base: base, judgement, in: write)
                }
            }
        }
    }

    /// Inserts a revision that was prepared.
    ///
    /// - Parameter replacesWinner: See ``insert(_:id:_:replacesWinner:in:)``.
    /// - Throws: 503 where what it is judged by does not stop changing: a replicator tries that again.
    func insertPrepared(
        _ document: RequestDocument, id: String, replacesWinner: Bool = false
    ) async throws {
        try await repeating(orElse: HTTPFailure(503, "service unavailable", "The document is being changed."))
        {
            let (judgement, document) = try await admit(document, id, isEdit: false)
            try await served.database.write(for: work.owner) { batch in
                try JudgedWrite.run(batch, self) { write in
                    try insert(document, id: id, judgement, replacesWinner: replacesWinner, in: write)
                }
            }
        }
    }

    /// Judges a document, and stores its inline attachments once nothing refuses it.
    ///
    /// - Parameters:
    ///   - base: The revision that an edit is one of.
    ///   - moment: The snapshot to judge it by; the newest where it is `nil`.
    /// - Throws: Of what is inserted, 403 for what can't be stored: see ``insert(_:id:_:in:)``.
    nonisolated(nonsending) func admit(
        _ document: RequestDocument, _ id: String, isEdit: Bool, base: RevisionID? = nil,
        at moment: JudgingMoment? = nil
    ) async throws -> (Judgement, RequestDocument) {
        do {
            let history = isEdit ? base.map { [$0] } ?? [] : document.lineage
            let judgement = try await judge(document, id, history, at: moment)
            return (judgement, try await storeInline(document))
        } catch  where !isEdit {
            throw Self.failure(ofInserting: error)
        }
    }

    private func repeating<R>(orElse failure: HTTPFailure, _ body: () async throws -> R) async throws -> R {
        for _ in 0..<Self.mostAttempts {
            do {
                return try await body()
            } catch is OutdatedJudgement {
                continue
            }
        }
        throw failure
    }
}

/// The channels' records could not follow a document. It fails the whole write, so that neither stays without the other.
struct UnsettledChannels: Error {
    let cause: any Error
}

/// What the members of a design document have to be, as CouchDB has it, so that a mistake shows when the document is saved, and not
/// when it is asked.
enum DesignShape {
    private enum Kind: String {
        case array, boolean, object, string

        init?(_ value: FleeceValue) {
            switch value.kind {
            case .array: self = .array
            case .bool: self = .boolean
            case .dictionary: self = .object
            case .string: self = .string
            default: return nil
            }
        }
    }

    /// - Throws: 400 `invalid_design_doc`.
    static func check(_ design: FleeceValue) throws {
        for name in ["language", "validate_doc_update"] { try require(design[name], name, .string) }
        try require(design["rewrites"], "rewrites", .string, .array)
        for name in ["filters", "lists", "shows", "updates"] {
            try require(design[name], name, .object)
            for (key, function) in design[name].dictionary ?? .empty {
                try require(function, "\(name).\(key)", .object, .string)
            }
        }
        try require(design["options"], "options", .object)
        for name in ["include_design", "local_seq", "partitioned"] {
            try require(design["options"][name], "options.\(name)", .boolean)
        }
        try require(design["views"], "views", .object)
        for (name, view) in design["views"].dictionary ?? .empty {
            try require(view, "views.\(name)", .object)
            if name != "lib" { try check(view, name, design["language"].string ?? "javascript") }
        }
    }

    private static func check(_ view: FleeceValue, _ name: String, _ language: String) throws {
        // In other languages than CouchDB's a map is what it is.
        switch language {
        case "query": try require(view["map"], "views.\(name).map", .object)
        case "javascript", "erlang", "coffeescript": try require(view["map"], "views.\(name).map", .string)
        default: break
        }
        guard view["map"].exists else { throw invalid("View `\(name)` must contain map function") }
        try require(view["reduce"], "views.\(name).reduce", .string)
        if let reduction = view["reduce"].string, reduction.begins(with: "_"),
            ViewReduction.named(in: reduction) == nil
        {
            throw invalid("`\(reduction)` is not a supported reduce function.")
        }
    }

    private static func require(_ value: FleeceValue, _ name: String, _ kinds: Kind...) throws {
        guard value.exists else { return }
        if let kind = Kind(value), kinds.contains(kind) { return }
        let names = kinds.map(\.rawValue).joined(separator: " or ")
        throw invalid("`\(name)` field must have \(names) type")
    }

    private static func invalid(_ reason: String) -> HTTPFailure {
        HTTPFailure(400, "invalid_design_doc", reason)
    }
}
