/// What an import makes of what it reads.
struct ImportOptions: Sendable {
    /// What becomes of the revisions that documents name.
    enum Revisions: String, CaseIterable {
        /// They are kept, with their histories.
        case keep
        /// They are dropped: each document is saved as a new revision.
        case new
    }

    /// The property that is a document's ID.
    var idField = "_id"
    /// Whether an `_id` may be a whole number.
    var takesNumbersAsIDs = false
    var revisions = Revisions.keep
    /// Whether to leave out what can't be stored, and go on.
    var goesOn = false
}
