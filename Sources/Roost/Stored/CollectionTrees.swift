import RoostStorage

/// The trees of a collection. Snapshots and handles of it share them, so that copying these counts one reference.
final class CollectionTrees: Sendable {
    /// By document ID: ``StoredDocument``.
    let documents: Tree
    /// By sequence: ``StoredChange``.
    let changes: Tree
    /// What few documents have: ``ExtrasKey``.
    let extras: Tree

    /// Makes the trees of a new collection.
    init(number: UInt64, in transaction: StoreTransaction) throws(StoreError) {
        documents = try transaction.tree("documents/\(number)")
        changes = try transaction.tree("changes/\(number)")
        extras = try transaction.tree("extras/\(number)")
    }

    /// Finds the trees; `nil` when one is missing.
    init?(number: UInt64, in snapshot: Snapshot) {
        guard let documents = snapshot.tree("documents/\(number)"),
            let changes = snapshot.tree("changes/\(number)"),
            let extras = snapshot.tree("extras/\(number)")
        else { return nil }
        self.documents = documents
        self.changes = changes
        self.extras = extras
    }
}

extension CollectionTrees: Hashable {
    static func == (left: CollectionTrees, right: CollectionTrees) -> Bool {
        left === right
            || left.documents == right.documents && left.changes == right.changes
                && left.extras == right.extras
    }

    func hash(into hasher: inout Hasher) { hasher.combine(documents) }
}
