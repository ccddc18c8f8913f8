/// What things cost, in millionths of a second, about: measured on one machine, and only their proportions matter.
///
/// The folder has numbers and what follows from them: exact counts go in, a cost comes out. Nothing here knows of a database.
enum Cost {
    /// Reading a document where they are stored one after the other.
    static let scanned = 0.4
    /// Reading a row of an index.
    static let entry = 0.15
    /// Looking a document up.
    static let lookedUp = 1.5
    /// Keeping a row in a table, or finding it there.
    static let kept = 0.5
    /// So many rows of a source match a value, where it isn't known how many.
    static let usualMatches = 10.0
    /// Another order of sources is taken only if it is expected to take less than this part of the time: estimates err.
    static let worthwhile = 0.5
    /// So many IDs are kept in memory for an intersection.
    static let mostIntersected = 100_000

    /// Reading rows of an index, and the documents that they lead to unless the rows have all that is asked.
    ///
    /// - Parameters:
    ///   - count: the rows of the index.
    ///   - ranges: the ranges that these are in.
    ///   - answersAll: whether each of the rows is one of the answer.
    ///   - isOrdered: whether they come in the order that is required.
    ///   - isGrouped: whether they come group by group.
    static func index(
        _ count: Int, ranges: Int, isCovering: Bool, answersAll: Bool, isOrdered: Bool, isGrouped: Bool,
        _ required: RequiredOrdering
    ) -> Double {
        var rows = Double(count)
        // Rows that come in order are read until there are enough; conditions that the index does not answer may omit
        // many.
        if isOrdered || !required.isSorted, required.most < count {
            rows = answersAll ? Double(required.most) : max(Double(required.most), rows / 4)
        }
        let arranging = isOrdered || isGrouped ? 0 : rows * required.arranging
        return rows * (isCovering ? entry : lookedUp) + arranging + Double(ranges)
    }

    /// Reading two indexes and the documents that are in both, as if the one condition told nothing of the other.
    static func intersection(
        _ first: Int, _ second: Int, of total: Int, isOrdered: Bool, _ required: RequiredOrdering
    ) -> Double {
        let rows = Double(first) * Double(second) / Double(max(total, 1))
        return Double(first + second) * entry + rows * (lookedUp + (isOrdered ? 0 : required.arranging))
    }

    /// Looking documents up that come in no order.
    static func lookups(_ count: Int, _ required: RequiredOrdering) -> Double {
        Double(count) * (lookedUp + required.arranging)
    }

    /// Reading documents one after the other until there are enough.
    ///
    /// - Parameters:
    ///   - total: how many documents there are.
    ///   - matching: how many may meet the conditions at most, as far as indexes know.
    ///   - isFiltered: whether there are conditions, which may omit many.
    static func scan(of total: Int, matching: Int, isFiltered: Bool, _ required: RequiredOrdering) -> Double {
        let arranging = required.isScanSorted ? 0 : required.arranging
        var passed = total
        if !required.isSorted || required.isScanSorted, required.most < total {
            let evenly = Double(required.most) * Double(total) / Double(max(matching, 1))
            passed = isFiltered ? max(total / 4, Int(min(evenly, Double(total)))) : required.most
        }
        return Double(passed) * (scanned + arranging)
    }

    /// Reading the rows of a source into a table.
    static func table(_ count: Int, reading: Double?) -> Double {
        (reading ?? Double(count) * scanned) + Double(count) * kept
    }
}

/// What is required of the order of a source's rows, and how many are needed.
struct RequiredOrdering {
    /// Whether rows have to be sorted that do not come in the required order.
    var isSorted = false
    /// Whether they come so when all documents are read.
    var isScanSorted = false
    /// Whether the required order is that of the ranks of what is searched for.
    var isRanked = false
    /// Whether rows are put into groups.
    var isGrouped = false
    /// How many rows are needed at most.
    var most = Int.max

    /// What a row costs that does not come in the order required.
    var arranging: Double { isSorted ? 0.5 : isGrouped ? 0.3 : 0 }
}
