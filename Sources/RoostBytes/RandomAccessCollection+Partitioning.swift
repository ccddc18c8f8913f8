extension RandomAccessCollection where Index == Int {
    /// The index of the first element that `belongsToEnd`, where all that follow do too; ``endIndex`` when none does. O(log n).
    @inlinable
    package func partitioningIndex(where belongsToEnd: (Element) throws -> Bool) rethrows -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if try belongsToEnd(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
