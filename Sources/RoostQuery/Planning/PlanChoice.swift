/// How the rows of a query are found in one execution: what depends on parameters and on what indexes hold.
struct PlanChoice {
    let limit: Int
    let offset: Int
    /// The sources in the order in which they are read.
    let sources: [SourcePlan]
    /// The rows, where they are known without reading those of sources.
    var known: RowCursor?
    /// How the first source is read.
    var decision = AccessDecision()
    /// Whether rows have to be sorted.
    var isSorted = false
    /// Whether rows come group by group.
    var streamsGroups = false
    /// Whether an index passes over what OFFSET leaves out.
    var skipsByRank = false
    /// How many threads read the documents of the first source.
    var threads = 1

    init(_ sources: [SourcePlan], limit: Int, offset: Int) {
        self.sources = sources
        self.limit = limit
        self.offset = offset
    }

    /// How many rows are needed at most, with those that are passed over.
    var most: Int {
        let (sum, isPast) = offset.addingReportingOverflow(limit)
        return isPast ? .max : sum
    }
}
