import Roost
import RoostBytes
import RoostStorage

/// What an index holds of each document of a collection: rows that sort by their keys.
///
/// The rows of a document must follow from the document alone, and from it as ``signature`` says: rows are kept, in files,
/// for as long as the signature stays the same.
package struct IndexDefinition: Sendable {
    /// Makes the rows of some documents of a moment: winning revisions, which are no tombstones. Called from any thread, also
    /// while it runs in others. What it throws ends the upkeep or the reading that it was called for, and no rows are made of
    /// that.
    package typealias Map =
        @Sendable (_ documents: DocumentPage, _ moment: CollectionSnapshot) throws -> IndexRows

    /// Tells the index from others of its collection: its kind, a slash and its own name. At most 1,000 bytes.
    package let name: String
    /// All that the rows depend on besides the documents: source or version of the map, options, collation. An index whose
    /// rows were made under another one is made anew.
    package let signature: String
    /// What the branch nodes of the rows' tree keep, so that reducing any range takes O(log n).
    package let reduction: IndexReduction?
    package let map: Map
    /// What keeps the index, where it has something else than rows.
    package let keeper: (any IndexKeeper)?

    package init(
        name: String, signature: String, reduction: IndexReduction? = nil, mapAll: @escaping Map
    ) {
        self.name = name
        self.signature = signature
        self.reduction = reduction
        map = mapAll
        keeper = nil
    }

    /// An index that has something else than rows.
    package init(name: String, signature: String, keeper: any IndexKeeper) {
        self.name = name
        self.signature = signature
        self.keeper = keeper
        reduction = nil
        map = { documents, _ in IndexRows(of: documents) }
    }

    /// What the tree of the rows keeps; `nil` for an index without a reduction.
    ///
    /// - Parameter number: The number that the index has in its store.
    func storedReduction(of number: UInt64) -> Reduction? {
        reduction?.stored(of: number, "\(name)\n\(signature)")
    }
}
