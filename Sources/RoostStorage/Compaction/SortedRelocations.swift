/// Relocations in the order of their old offsets. A look-up begins where the last one ended, so that those that go upwards are fast.
struct SortedRelocations {
    private(set) var items: [Relocation]
    /// Where the last look-up ended.
    private var cursor = 0

    /// - Precondition: the old offsets of `items` never decrease.
    init(_ items: [Relocation] = []) { self.items = items }

    var count: Int { items.count }
    var first: Relocation? { items.first }
    var last: Relocation? { items.last }

    /// Where the value at `old` went; `nil` when it is not here. O(log d) where d is how far it lies above the last one that was
    /// looked for, O(log n) below that.
    mutating func find(_ old: UInt64) -> ChunkReference? {
        seek(old)
        return cursor < items.count && items[cursor].old == old ? items[cursor].new : nil
    }

    /// Moves the cursor to the first relocation whose old offset is not less than `old`.
    private mutating func seek(_ old: UInt64) {
        var low = 0
        var high = cursor
        if cursor < items.count, items[cursor].old <= old {
            low = cursor
            var step = 1
            while high < items.count, items[high].old < old {
                low = high + 1
                high += step
                step *= 2
            }
            high = min(high, items.count)
        }
        while low < high {
            let middle = (low &+ high) &>> 1
            if items[middle].old < old { low = middle &+ 1 } else { high = middle }
        }
        cursor = low
    }

    /// These and `others` in order. O(n).
    func merged(with others: SortedRelocations) -> SortedRelocations {
        var merged: [Relocation] = []
        merged.reserveCapacity(count + others.count)
        var (left, right) = (0, 0)
        while left < count, right < others.count {
            let isRight = others.items[right].old < items[left].old
            merged.append(isRight ? others.items[right] : items[left])
            if isRight { right += 1 } else { left += 1 }
        }
        merged += items[left...]
        merged += others.items[right...]
        return SortedRelocations(merged)
    }
}
