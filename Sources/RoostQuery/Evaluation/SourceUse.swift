/// What a query asks of the rows of a source: so an index that has all of that need not lead to documents.
struct SourceUse {
    /// A part of a row.
    enum Part {
        /// The value at a path of the program.
        case path(Int)
        /// The document's ID.
        case id
        /// Everything, or what only the document knows.
        case whole
    }

    private(set) var paths: Set<Int> = []
    private(set) var isWhole = false

    mutating func add(_ part: Part) {
        switch part {
        case .path(let number): paths.insert(number)
        case .id: break
        case .whole: isWhole = true
        }
    }
}
