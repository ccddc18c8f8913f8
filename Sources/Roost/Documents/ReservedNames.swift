/// Names at the top level of a document that mean something to CouchDB's protocol, and what becomes of them in a body
/// that is to be saved.
///
/// `_id`, `_rev` and `_deleted` may repeat what is true of the document anyway, as they do in JSON that CouchDB wrote, and
/// `_revisions` is the history of one that is inserted. `_attachments` becomes the revision's attachments. What a server
/// tells of a document besides (``told``) says nothing to one that stores it. None of these is stored. The rest is
/// refused: were it stored, no peer could tell it from the protocol's own.
enum ReservedNames {
    static let id = "_id"
    static let revision = "_rev"
    static let deleted = "_deleted"
    static let attachments = "_attachments"
    static let revisions = "_revisions"
    static let revisionsInfo = "_revs_info"
    static let conflicts = "_conflicts"
    static let deletedConflicts = "_deleted_conflicts"
    static let localSequence = "_local_seq"
    /// What is told on request, and passed over when it comes back.
    static let told = [revisionsInfo, conflicts, deletedConflicts, localSequence]
    /// What all of them begin with.
    static let firstByte = UInt8(ascii: "_")
    static let all = [id, revision, "_sequence", deleted, "_removed", attachments, revisions] + told

    /// Whether the UTF-8 `name` is one of them.
    static func contain(_ name: UnsafeRawBufferPointer) -> Bool {
        guard unsafe name.first == firstByte else { return false }
        return all.contains { unsafe $0.utf8.elementsEqual(name) }
    }

    static func contain(_ name: String) -> Bool {
        name.utf8.first == firstByte && all.contains { $0.utf8.elementsEqual(name.utf8) }
    }
}
