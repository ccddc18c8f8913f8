import Fleece
import Roost
import RoostIndex

/// A document as a view's function sees it: the winning revision, which is not deleted.
///
/// What a view emits must follow from this alone, not from the time, other documents or chance.
public struct ViewDocument: Sendable {
    /// The document.
    public let document: Document
    private let collection: CollectionSnapshot

    init(_ document: IndexedDocument) {
        self.document = document.document
        collection = document.collection
    }

    /// The document's name in its collection.
    public var id: String { document.id }

    /// The winning revision.
    public var revision: RevisionID { document.revision }

    /// The value of a property; undefined when there is none.
    public subscript(key: String) -> FleeceValue { document[key] }

    /// The value that a path leads to; undefined if it leads nowhere.
    public subscript(path path: FleecePath) -> FleeceValue { document[path: path] }

    /// The revisions of the leaves that are in conflict with the winner, what CouchDB calls `_conflicts`.
    public var conflicts: [RevisionID] {
        document.isConflicted ? (try? collection.conflicts(of: id).map(\.revision)) ?? [] : []
    }
}
