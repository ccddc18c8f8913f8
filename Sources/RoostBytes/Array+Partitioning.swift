extension Array {
    /// The index of the first element that `belongsToEnd`, where all that follow do too; ``count`` when none does. O(log n).
    @inlinable
    package func partitioningIndex(where belongsToEnd: (Element) throws -> Bool) rethrows -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if try belongsToEnd(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
