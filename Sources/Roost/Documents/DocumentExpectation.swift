/// What a document must be like for a change to it to be made: compare and swap.
public enum DocumentExpectation: Hashable, Sendable {
    /// Whatever it is: the change goes on top of the winner, or makes the document.
    case any
    /// There is no such document, or it is deleted.
    case absent
    /// This revision is a leaf: nobody has edited it since it was read.
    case revision(RevisionID)
}

extension RevisionTree {
    /// The revision that an edit becomes a child of, `nil` for a document's first.
    ///
    /// - Throws: `conflict` when the document is not as expected.
    func parent(for expectation: DocumentExpectation) throws(DatabaseError) -> RevisionID? {
        switch expectation {
        case .any: winner?.id
        case .absent: try parentForEdit(of: nil)
        case .revision(let base): try parentForEdit(of: base)
        }
    }
}
