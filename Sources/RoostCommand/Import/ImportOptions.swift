import Roost

/// How a file is read.
struct ImportFormat {
    /// lines, array or csv; `nil` for what the first character tells.
    var name: String?
    /// csv: what stands between fields; `nil` for what the first record tells.
    var separator: UInt8?
    /// csv: the types of columns, by name.
    var types: NamedValues<ColumnType> = [:]
    /// The property, or column, with the IDs, in a file that has it and no `_id`.
    var knownKey: String?

    /// The format that a file's name tells.
    init(path: String) {
        if FileFormat(path: path).isCSV { name = "csv" }
    }
}

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
