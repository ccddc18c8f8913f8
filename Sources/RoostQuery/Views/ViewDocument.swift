import Fleece
import Roost
import RoostIndex

/// A document as a view's function sees it: the winning revision, which is not deleted.
///
/// What a view emits must follow from this alone, not from the time, other documents or chance.
public struct ViewDocument: Sendable {
    /// The document.
    public let document: Document
    private let setting: Setting

    /// What documents that are mapped together have in common: one reference to count for each of them.
    final class Setting: Sendable {
        let moment: CollectionSnapshot
        let showsSequence: Bool

        init(_ moment: CollectionSnapshot, showsSequence: Bool = false) {
            self.moment = moment
            self.showsSequence = showsSequence
        }
    }

    init(_ document: Document, _ setting: Setting) {
        self.document = document
        self.setting = setting
    }

    /// The moment that it is of.
    var moment: CollectionSnapshot { setting.moment }

    /// The document's name in its collection.
    public var id: String { document.id }

    /// The winning revision.
    public var revision: RevisionID { document.revision }

    /// The document's place in the changes of its collection, what CouchDB calls `_local_seq`.
    public var sequence: UInt64 { document.sequence }

    /// The value of a property; undefined when there is none.
    public subscript(key: String) -> FleeceValue { document[key] }

    /// The value that a path leads to; undefined if it leads nowhere.
    public subscript(path path: FleecePath) -> FleeceValue { document[path: path] }

    /// The revisions of the leaves that are in conflict with the winner, what CouchDB calls `_conflicts`.
    public var conflicts: [RevisionID] {
        document.isConflicted ? (try? setting.moment.conflicts(of: id).map(\.revision)) ?? [] : []
    }

    /// The document as CouchDB hands it to map functions: `_id`, `_rev`, `_conflicts`, `_deleted_conflicts` and stubs of
    /// `_attachments` where there are any, and `_local_seq` with the option `local_seq` of the design document.
    ///
    /// - Throws: `DatabaseError`, such as `damaged`.
    public func json() throws(DatabaseError) -> String { String(decoding: try jsonBytes(), as: UTF8.self) }

    /// The same in UTF-8.
    package func jsonBytes() throws(DatabaseError) -> [UInt8] {
        var metadata: DocumentMetadata = [.id, .revision, .deletion, .attachments, .md5Digests]
        if document.hasSeveralLeaves { metadata.formUnion([.conflicts, .deletedConflicts]) }
        if setting.showsSequence { metadata.insert(.localSequence) }
        return try setting.moment.jsonBytes(document, with: metadata)
    }
}
