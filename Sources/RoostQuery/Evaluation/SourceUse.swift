/// What a query asks of the rows of a source: so an index that has all of that need not lead to documents.
struct SourceUse {
    /// A part of a row.
    enum Part {
        /// The value at a path of the program.
        case path(Int)
        /// All properties.
        case properties
        /// What META() knows.
        case metadata(Metadata)
    }

    /// How much of what META() knows.
    enum Metadata: Comparable {
        case none, id, all
    }

    private(set) var paths: Set<Int> = []
    private(set) var isOfAllProperties = false
    private(set) var metadata = Metadata.none

    /// Whether only the document knows all of it.
    var isWhole: Bool { isOfAllProperties || metadata == .all }

    mutating func add(_ part: Part) {
        switch part {
        case .path(let number): paths.insert(number)
        case .properties: isOfAllProperties = true
        case .metadata(let part): metadata = max(metadata, part)
        }
    }
}
