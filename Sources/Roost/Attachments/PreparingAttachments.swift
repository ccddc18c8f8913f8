import Fleece
import RoostBlobs
import RoostBytes

extension WriteTransaction {
    /// Puts the content that came with claims into the store, and keeps what others refer to from being removed until
    /// the transaction has ended.
    ///
    /// - Parameters:
    ///   - claims: What is said of attachments; `nil` when nothing is.
    ///   - contents: The content of those that follow, and of any that the claims do not mention.
    /// - Throws: `corruptRevisionData`, `notFound`, `damaged`, `noSpace`, `inputOutput`.
    func prepare(
        _ claims: NamedValues<AttachmentClaim>?, contents: NamedValues<Attachment> = [:]
    ) throws(DatabaseError) -> NamedValues<PreparedAttachment>? {
        guard claims != nil || !contents.isEmpty else { return nil }
        var prepared = NamedValues<PreparedAttachment>()
        for (name, claim) in claims ?? [:] {
            try Self.check(name)
            switch claim.content {
            case .inline(let data) where contents[name] == nil:
                let (stored, pin) = try core.vault.store(name, data, claim)
                pins.append(pin)
                if let hold = stored.blob.hold { holds.append(hold) }
                prepared[name] = PreparedAttachment(claim: claim, stored: stored)
            case .stub:
                prepared[name] = try find(claim, claim.digest, claim.checksums)
            case .following, .inline:
                guard let content = contents[name] else {
                    throw AttachmentClaim.refusal(name, "is said to follow, and no content came with it")
                }
                prepared[name] = try find(name, claim, content)
            }
        }
        for (name, content) in contents where prepared[name] == nil {
            try Self.check(name)
            prepared[name] = try find(name, AttachmentClaim(content), content)
        }
        return prepared
    }

    fileprivate static func check(_ name: String) throws(DatabaseError) {
        guard !name.isEmpty, !name.hasPrefix("_") else {
            throw AttachmentClaim.refusal(name, "needs another name: not empty, and not beginning with _")
        }
    }

    /// An attachment whose content is that of a handle.
    ///
    /// - Throws: `notFound` when it is not in the store.
    private func find(
        _ name: String, _ claim: AttachmentClaim, _ content: Attachment
    ) throws(DatabaseError) -> PreparedAttachment {
        let prepared = try find(claim, content.digest, content.checksums)
        guard prepared.stored != nil else {
            throw DatabaseError(
                .notFound,
                "The content of the attachment \(DatabaseError.quoted(name)), \(content.digest), is not in the store. "
                    + "Store the blob first.")
        }
        return prepared
    }

    /// An attachment whose content is the blob that `digest` names, if the store has that.
    private func find(
        _ claim: AttachmentClaim, _ digest: String?, _ checksums: BlobChecksums?
    ) throws(DatabaseError) -> PreparedAttachment {
        guard let digest = digest.flatMap({ BlobDigest($0) }) else {
            return PreparedAttachment(claim: claim, stored: nil)
        }
        let blobs = core.vault.blobs
        pins.append(blobs.pin(digest))
        guard let reader = try translating({ () throws(BlobError) in try blobs.open(digest) }) else {
            return PreparedAttachment(claim: claim, stored: nil)
        }
        let stored = Attachment(
            Blob(digest: digest.description, length: reader.length, contentType: claim.contentType),
            revisionPosition: 0, encodedLength: reader.encoding == .gzip ? reader.storedLength : nil,
            checksums: checksums)
        return PreparedAttachment(claim: claim, stored: stored, reader: reader, source: blobs)
    }
}

extension CollectionWriter {
    /// The body with the attachments of a new revision.
    ///
    /// - Parameters:
    ///   - prepared: What is said of them; `nil` to carry on those of the parent, except to a tombstone.
    ///   - history: The revisions that the new one is an edit of, newest first.
    func complete(
        _ body: DocumentBody, _ prepared: NamedValues<PreparedAttachment>?, history: ArraySlice<RevisionID>,
        isDeleted: Bool, isEdit: Bool, generation: UInt64, _ key: ByteView, _ loaded: LoadedDocument?
    ) throws(DatabaseError) -> DocumentBody {
        guard prepared != nil || isEdit && !isDeleted && loaded != nil, prepared?.isEmpty != true else {
            return body
        }
        let reader = reader
        var sources = StubSources(loaded?.tree ?? RevisionTree(), history: history) {
            (leaf) throws(DatabaseError) in
            guard let loaded else { return [:] }
            return try reader.body(at: try reader.place(of: leaf, key, loaded)).attachments
        }
        guard let prepared else {
            let inherited = try sources.inherited()
            return inherited.isEmpty ? body : try body.with(inherited)
        }
        return try body.with(
            prepared.resolved(from: &sources, generation: generation, isEdit: isEdit))
    }
}

extension BlobVault {
    /// Stores inline data. An MD5 that is claimed for it is not compared: CouchDB gives that of the gzip that it keeps,
    /// which is not sent.
    fileprivate func store(
        _ name: String, _ data: [UInt8], _ claim: AttachmentClaim, longest: UInt64 = .max
    ) throws(DatabaseError) -> (Attachment, BlobPin) {
        let expected = claim.digest.flatMap { BlobDigest($0) }
        var options = BlobWriteOptions()
        options.algorithm = expected?.algorithm ?? .sha1
        options.isCompressed = claim.isCompressed
        options.longest = longest
        options.computesMD5 = true
        let writer = try translating { () throws(BlobError) in try BlobFileWriter(blobs, options) }
        let installed: InstalledBlob
        do throws(BlobError) {
            try writer.write(data)
            installed = try writer.install(expecting: expected, isHeld: true)
        } catch {
            switch error.code {
            case .contentChanged:
                throw AttachmentClaim.refusal(name, "has data with another digest than it says")
            case .invalidContent: throw AttachmentClaim.refusal(name, "has data that is no gzip")
            default: throw DatabaseError(error)
            }
        }
        var blob = Blob(
            digest: installed.digest.description, length: installed.length, contentType: claim.contentType)
        blob.hold = installed.hold
        let attachment = Attachment(
            blob, revisionPosition: 0,
            encodedLength: installed.encoding == .gzip ? installed.storedLength : nil,
            checksums: BlobChecksums(installed))
        return (attachment, installed.pin)
    }
}

extension Database {
    /// Stores, durably, the content that stands in a member of `_attachments`, before the write that refers to it.
    ///
    /// - Parameter longest: The most bytes that the content may have, decompressed.
    /// - Returns: What the write is to be given; with its last copy the content goes unless a document names it then. `nil` for a member
    ///   that has no content in it.
    /// - Throws: `corruptRevisionData`, `limitExceeded`, `noSpace`, `inputOutput`.
    package func storeInline(
        _ name: String, _ value: FleeceValue, longest: UInt64
    ) throws(DatabaseError) -> Attachment? {
        try checkWritable()
        try WriteTransaction.check(name)
        let claim = try AttachmentClaim(name, DocumentValue(value))
        guard case .inline(let data) = claim.content else { return nil }
        return try core.vault.store(name, data, claim, longest: longest).0
    }

    /// Stores, durably, all content that stands in a document's text, before the write that inserts it.
    ///
    /// - Parameter longest: The most bytes that an attachment may have, decompressed.
    /// - Returns: The document with what was stored among its contents.
    /// - Throws: `corruptRevisionData`, `limitExceeded`, `noSpace`, `inputOutput`.
    package func storeInline(
        _ document: IncomingDocument, longest: UInt64
    ) throws(DatabaseError) -> IncomingDocument {
        try checkWritable()
        var document = document
        for (name, claim) in document.attachments ?? [:] {
            guard case .inline(let data) = claim.content else { continue }
            try WriteTransaction.check(name)
            document.contents[name] = try core.vault.store(name, data, claim, longest: longest).0
        }
        return document
    }
}

// MARK: - StubSources

/// Where the stubs of a new revision find their content: the leaves of its document that are stored.
struct StubSources {
    private let ancestors: [RevisionID]
    private let others: [RevisionID]
    private let read: (RevisionID) throws(DatabaseError) -> NamedValues<Attachment>
    private var known: [RevisionID: NamedValues<Attachment>] = [:]
    /// The attachments of `others` by their names, once a stub needed them: looking into each of thousands of leaves for each of
    /// thousands of stubs would take time in proportion to the product.
    private var othersByName: NamedValues<[Attachment]>?

    /// - Parameters:
    ///   - tree: The document's revisions.
    ///   - history: The revisions that the new one is an edit of, newest first.
    ///   - read: Reads the attachments of a leaf.
    init(
        _ tree: RevisionTree, history: some Sequence<RevisionID>,
        _ read: @escaping (RevisionID) throws(DatabaseError) -> NamedValues<Attachment>
    ) {
        let leaves = tree.leaves.filter { $0.flags.contains(.hasAttachments) }.map(\.id)
        let line = Set(history)
        ancestors = leaves.filter { line.contains($0) }
        others = leaves.filter { !line.contains($0) }
        self.read = read
    }

    /// The attachments of the ancestor that is stored; none where there is no such ancestor.
    mutating func inherited() throws(DatabaseError) -> NamedValues<Attachment> {
        try ancestors.first.map { (leaf) throws(DatabaseError) in try attachments(of: leaf) } ?? [:]
    }

    /// The attachment of that name that a stub means; `nil` when no leaf has it.
    mutating func attachment(
        _ name: String, _ claim: AttachmentClaim
    ) throws(DatabaseError) -> Attachment? {
        for leaf in ancestors {
            ReadCounts.note(.comparisons)
            if let found = try attachments(of: leaf)[name], claim.matches(found) { return found }
        }
        guard claim.digest != nil, claim.revisionPosition != nil else { return nil }
        return try attachmentsOfOthers()[name]?.first { attachment in
            ReadCounts.note(.comparisons)
            return claim.identifies(attachment)
        }
    }

    private mutating func attachmentsOfOthers() throws(DatabaseError) -> NamedValues<[Attachment]> {
        if let othersByName { return othersByName }
        var all = NamedValues<[Attachment]>()
        for leaf in others {
            for (name, attachment) in try attachments(of: leaf) {
                if all[name] == nil { all[name] = [] }
                all[name]?.append(attachment)
            }
        }
        othersByName = all
        return all
    }

    private mutating func attachments(of leaf: RevisionID) throws(DatabaseError) -> NamedValues<Attachment> {
        if let attachments = known[leaf] { return attachments }
        let attachments = try read(leaf)
        known[leaf] = attachments
        return attachments
    }
}

extension NamedValues<PreparedAttachment> {
    /// The attachments of a new revision.
    ///
    /// - Parameters:
    ///   - sources: Where stubs find their content.
    ///   - generation: The new revision's.
    ///   - isEdit: Whether it is made here, so that claims of when something was added are not believed.
    /// - Throws: `missingStub` for a stub of what is not there.
    func resolved(
        from sources: inout StubSources, generation: UInt64, isEdit: Bool
    ) throws(DatabaseError) -> NamedValues<Attachment> {
        var result = NamedValues<Attachment>()
        let inherited = try sources.inherited()
        for (name, prepared) in self {
            let claim = prepared.claim
            let meant = claim.isStub ? try sources.attachment(name, claim) : nil
            guard let found = meant ?? prepared.stored else {
                throw DatabaseError(
                    .missingStub,
                    "The attachment \(DatabaseError.quoted(name)) is a stub, and neither a revision of the document nor "
                        + "the store has its content. Send the content, or store the blob first.")
            }
            let type = claim.contentType ?? meant?.contentType
            let old = meant ?? inherited[name]
            // What a revision of the document names is durable.
            if meant == nil, old?.digest != found.digest { try prepared.secure() }
            let isOld = old.map { $0.digest == found.digest && $0.contentType == type } ?? false
            var position = isOld ? old?.revisionPosition ?? generation : generation
            if !isEdit, let claimed = claim.revisionPosition, (1...generation).contains(claimed) {
                position = claimed
            }
            result[name] = try prepared.withChecksums(found)
                .with(contentType: type, revisionPosition: position)
        }
        return result
    }
}
