/// Names at the top level of a document that mean something to CouchDB's protocol, and what becomes of them in a body
/// that is to be saved.
///
/// `_id`, `_rev` and `_deleted` may repeat what is true of the document anyway, as they do in JSON that CouchDB wrote;
/// they are left out of what is stored. `_attachments` becomes the revision's attachments. Everything else is refused: were it stored, no peer could tell it from the
/// protocol's own.
enum ReservedNames {
    static let id = "_id"
    static let revision = "_rev"
    static let deleted = "_deleted"
    static let attachments = "_attachments"
    static let all = [id, revision, "_sequence", deleted, "_removed", attachments]

    /// Whether the UTF-8 `name` is one of them.
    static func contain(_ name: UnsafeRawBufferPointer) -> Bool {
        guard unsafe name.first == UInt8(ascii: "_") else { return false }
        return all.contains { unsafe $0.utf8.elementsEqual(name) }
    }
}
