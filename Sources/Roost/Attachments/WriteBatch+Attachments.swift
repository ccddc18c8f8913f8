import RoostBlobs
import RoostBytes

extension WriteBatch {
    /// Puts the content that came with claims into the store, and keeps what others refer to from being removed until
    /// the batch has ended.
    ///
    /// - Throws: `corruptRevisionData`, `damaged`, `noSpace`, `inputOutput`.
    func prepare(
        _ claims: NamedValues<AttachmentClaim>?
    ) throws(DatabaseError) -> NamedValues<PreparedAttachment>? {
        guard let claims else { return nil }
        var prepared: NamedValues<PreparedAttachment> = [:]
        for (name, claim) in claims {
            guard !name.isEmpty, !name.hasPrefix("_") else {
                throw AttachmentClaim.refusal(name, "needs another name: not empty, and not beginning with _")
            }
            let stored: Attachment?
            if let data = claim.data {
                stored = try store(name, data, claim)
            } else {
                stored = try find(claim)
            }
            prepared[name] = PreparedAttachment(claim: claim, stored: stored)
        }
        return prepared
    }

    /// Stores inline data.
    private func store(
        _ name: String, _ data: [UInt8], _ claim: AttachmentClaim
    ) throws(DatabaseError) -> Attachment {
        let expected = claim.digest.flatMap { BlobDigest($0) }
        var options = BlobWriteOptions()
        options.algorithm = expected?.algorithm ?? .sha1
        options.compresses = claim.isCompressed
        let content: [UInt8]
        do throws(BlobError) {
            content = claim.isCompressed ? try Gzip.decompress(data, limit: Self.longestInline) : data
        } catch {
            throw AttachmentClaim.refusal(name, "has data that is no gzip, or of more than 1 GiB")
        }
        let writer = try blobCall { () throws(BlobError) in try BlobFileWriter(core.vault.blobs, options) }
        let installed: InstalledBlob
        do throws(BlobError) {
            try writer.write(content)
            installed = try writer.install(expecting: expected)
        } catch {
            guard error.code != .contentChanged else {
                throw AttachmentClaim.refusal(name, "has data with another digest than it says")
            }
            throw DatabaseError(error)
        }
        pins.append(installed.pin)
        return Attachment(
            Blob(
                digest: installed.digest.description, length: installed.length, contentType: claim.contentType
            ),
            revisionPosition: 0, encodedLength: installed.encoding == .gzip ? installed.storedLength : nil)
    }

    /// The longest content that inline data may decompress to: as long as a document may be.
    private static var longestInline: UInt64 { 1 << 30 }

    /// The blob that a stub's digest names.
    private func find(_ claim: AttachmentClaim) throws(DatabaseError) -> Attachment? {
        guard let digest = claim.digest.flatMap({ BlobDigest($0) }) else { return nil }
        let blobs = core.vault.blobs
        pins.append(blobs.pin(digest))
        guard let reader = try blobCall({ () throws(BlobError) in try blobs.open(digest) }) else {
            return nil
        }
        return Attachment(
            Blob(digest: digest.description, length: reader.length, contentType: claim.contentType),
            revisionPosition: 0, encodedLength: reader.encoding == .gzip ? reader.storedLength : nil)
    }
}

extension CollectionWriter {
    /// The body with the attachments of a new revision.
    ///
    /// - Parameters:
    ///   - prepared: What is said of them; `nil` to carry on those of the parent, except to a tombstone.
    ///   - parent: The revision before, whose content stubs refer to where it is a leaf.
    func complete(
        _ body: DocumentBody, _ prepared: NamedValues<PreparedAttachment>?, parent: RevisionID?,
        isDeleted: Bool,
        isEdit: Bool, generation: UInt64, _ key: ByteView, _ loaded: LoadedDocument?
    ) throws(DatabaseError) -> DocumentBody {
        guard prepared != nil || isEdit && !isDeleted else { return body }
        let inherited = try attachments(of: parent, key, loaded)
        guard let prepared else { return inherited.isEmpty ? body : try body.with(inherited) }
        return try body.with(
            prepared.resolved(from: inherited, generation: generation, isEdit: isEdit))
    }

    private func attachments(
        of revision: RevisionID?, _ key: ByteView, _ loaded: LoadedDocument?
    ) throws(DatabaseError) -> NamedValues<Attachment> {
        guard let revision, let loaded, let leaf = loaded.tree[revision], leaf.isLeaf,
            leaf.flags.contains(.hasAttachments)
        else { return [:] }
        return try reader.body(at: try reader.place(of: revision, key, loaded)).attachments
    }
}
