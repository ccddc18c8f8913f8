import RoostBytes
import RoostStorage

extension CollectionWriter {
    /// Makes an edit: a new revision on top of the one that `expectation` names.
    func edit(
        _ id: DocumentID, _ body: DocumentBody, _ attachments: NamedValues<PreparedAttachment>? = nil,
        isDeleted: Bool = false,
        expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        let key = keyView(id)
        let loaded = try load(key)
        return try edit(id, key, loaded, body, attachments, isDeleted: isDeleted, expecting: expectation)
    }

    /// As ``edit(_:_:_:isDeleted:expecting:)``, where what is stored of the document is known.
    func edit(
        _ id: DocumentID, _ key: ByteView, _ loaded: LoadedDocument?, _ body: DocumentBody,
        _ attachments: NamedValues<PreparedAttachment>? = nil, isDeleted: Bool,
        expecting expectation: DocumentExpectation
    ) throws(DatabaseError) -> Document {
        var tree = loaded?.tree ?? RevisionTree()
        let parent = try tree.parent(for: expectation)
        let body = try complete(
            body, attachments, history: parent.map { [$0] } ?? [], isDeleted: isDeleted, isEdit: true,
            generation: (parent?.generation ?? 0) + 1, key, loaded)
        let revision = try RevisionID.next(
            after: parent,
            digest: body.digest(parent: parent, isDeleted: isDeleted, gatheredIn: &scratch.form))
        let flags = RevisionFlags(of: body, isDeleted: isDeleted)
        let sequence = nextSequence()
        try tree.edit(parent, as: revision, flags: flags, sequence: sequence)
        tree.stem(to: record.revisionLimit)
        let place = try append(body)
        let stored = try store(
            tree, newLeaf: (revision, place), of: key, loaded, touched: parent.map { [$0] } ?? [],
            sequence: sequence)
        return Document(
            id: id.string, revision: revision, sequence: sequence, isDeleted: isDeleted, stored, body)
    }
}

extension RevisionFlags {
    /// Those of a revision with this body.
    init(of body: DocumentBody, isDeleted: Bool) {
        self = isDeleted ? .deleted : []
        if body.attachmentList != nil { insert(.hasAttachments) }
    }
}

extension Document {
    /// The revision that was just stored.
    init(
        id: String, revision: RevisionID, sequence: UInt64, isDeleted: Bool, _ stored: LoadedDocument,
        _ body: DocumentBody
    ) {
        var flags = stored.flags.subtracting(.deleted)
        if isDeleted { flags.insert(.deleted) }
        self.init(id: id, revision: revision, sequence: sequence, flags: flags, body: body)
    }
}
