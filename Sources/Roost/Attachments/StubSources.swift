import RoostBytes

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
