import Fleece
import RoostBlobs
import RoostBytes

extension WriteTransaction {
    /// Puts the content that came with claims into the store, and keeps what others refer to from being removed until
    /// the batch has ended.
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
