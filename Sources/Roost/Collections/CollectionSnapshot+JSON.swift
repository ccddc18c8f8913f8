import Fleece

extension CollectionSnapshot {
    /// A document of this collection as JSON text with `metadata` before its properties, also what only its revision tree
    /// tells, under the names that CouchDB gives it.
    ///
    /// ```swift
    /// try snapshot.json(document, with: [.id, .revision, .revisions, .conflicts])
    /// // {"_id":"n1","_rev":"2-…","_revisions":{"start":2,"ids":["…","…"]},"title":"Swifts"}
    /// ```
    ///
    /// - Throws: `damaged`, `inputOutput`.
    public func json(
        _ document: Document, _ format: JSONFormat = .compact, with metadata: DocumentMetadata
    ) throws(DatabaseError) -> String {
        String(decoding: try jsonBytes(document, format, with: metadata), as: UTF8.self)
    }

    /// The same in UTF-8.
    package func jsonBytes(
        _ document: Document, _ format: JSONFormat = .compact, with metadata: DocumentMetadata
    ) throws(DatabaseError) -> [UInt8] {
        try reader.jsonBytes(document, format, with: metadata)
    }
}

extension CollectionSnapshot {
    /// A document as JSON text in UTF-8 with the content of its attachments, and `metadata` before its properties.
    ///
    /// - Throws: `notFound` when the content of an attachment is not in the store, `damaged`, `closed`, `inputOutput`.
    package func jsonBytes(
        inliningAttachmentsOf document: Document, of database: Database, with metadata: DocumentMetadata
    ) throws(DatabaseError) -> [UInt8] {
        try reader.jsonBytes(
            document, .compact, with: metadata, attachments: try database.inlined(document))
    }
}

extension WriteTransaction {
    /// A document as JSON text in UTF-8 with `metadata` before its properties, as this transaction left it; see
    /// ``CollectionSnapshot/json(_:_:with:)``.
    package func jsonBytes(
        _ document: Document, with metadata: DocumentMetadata, in collection: DocumentCollection
    ) throws(DatabaseError) -> [UInt8] {
        try reader(collection).jsonBytes(document, .compact, with: metadata)
    }
}

extension CollectionReader {
    fileprivate func jsonBytes(
        _ document: Document, _ format: JSONFormat, with metadata: DocumentMetadata,
        attachments: NamedValues<DocumentValue>? = nil
    ) throws(DatabaseError) -> [UInt8] {
        let asked = metadata.intersection([.revisions, .revisionsInfo, .conflicts, .deletedConflicts])
        var further: [(name: String, value: DocumentValue)] = []
        if !asked.isEmpty {
            let tree = try document.id.withUTF8View { (key) throws(DatabaseError) in try load(key)?.tree }
            further = (tree ?? RevisionTree()).metadata(asked, of: document.revision)
        }
        if metadata.contains(.localSequence) {
            further.append((ReservedNames.localSequence, .integer(Int64(clamping: document.sequence))))
        }
        return document.jsonBytes(
            format, with: metadata,
            attachments: attachments
                ?? (metadata.contains(.attachments) ? document.attachmentStubs(metadata) : [:]),
            further)
    }
}

extension RevisionTree {
    /// What the tree tells of a document at `revision`.
    fileprivate func metadata(
        _ asked: DocumentMetadata, of revision: RevisionID
    ) -> [(name: String, value: DocumentValue)] {
        var members: [(name: String, value: DocumentValue)] = []
        let history = history(of: revision)
        if asked.contains(.revisions) {
            members.append(
                (
                    ReservedNames.revisions,
                    [
                        "start": .integer(Int64(clamping: revision.generation)),
                        "ids": .array(history.map { .string($0.digest.description) }),
                    ]
                ))
        }
        if asked.contains(.revisionsInfo) {
            members.append((ReservedNames.revisionsInfo, .array(history.map(info))))
        }
        if asked.contains(.conflicts) {
            append(ReservedNames.conflicts, but: revision, to: &members) { !$0.isDeleted }
        }
        if asked.contains(.deletedConflicts) {
            append(ReservedNames.deletedConflicts, but: revision, to: &members) { $0.isDeleted }
        }
        return members
    }

    private func info(_ id: RevisionID) -> DocumentValue {
        let revision = self[id]
        let isStored = revision?.isLeaf ?? false
        let status = isStored ? revision?.isDeleted == true ? "deleted" : "available" : "missing"
        return ["rev": .string("\(id)"), "status": .string(status)]
    }

    /// Adds the leaves besides the one that is shown, where there are any of the kind.
    private func append(
        _ name: String, but shown: RevisionID, to members: inout [(name: String, value: DocumentValue)],
        where isOfKind: (Revision) -> Bool
    ) {
        let others = leaves.filter { $0.id != shown && isOfKind($0) }
        if !others.isEmpty { members.append((name, .array(others.map { .string("\($0.id)") }))) }
    }
}
