import RoostBytes

extension PageView {
    /// The first four bytes of `suffix` as a number that orders as they do; missing bytes count as zero.
    @inline(__always) static func head(of suffix: ByteView) -> UInt32 {
        if suffix.count >= 4 { return suffix.load(UInt32.self, at: 0).byteSwapped }
        var head: UInt32 = 0
        for index in 0..<4 {
            head = head << 8 | (index < suffix.count ? UInt32(suffix[index]) : 0)
        }
        return head
    }

    /// The first index whose key is not less than `key`, and whether it is equal. O(log count).
    @inline(__always) func search(_ key: ByteView) -> (index: Int, found: Bool) {
        let common = min(key.count, prefixLength)
        let relation = key.slice(0, common).compare(prefix.slice(0, common))
        if relation != 0 || key.count < prefixLength { return (relation <= 0 ? 0 : count, false) }
        let suffix = key.dropFirst(prefixLength)
        let head = PageView.head(of: suffix)
        var (low, high) = (0, count)
        // Eight slots are a line of memory.
        if count > 64 { (low, high) = narrow(head, 0, count, by: 32) }
        if high &- low > 16 { (low, high) = narrow(head, low, high, by: 8) }
        while low < high {
            let middle = (low &+ high) &>> 1
            let other = self.head(middle)
            if other < head || other == head && isLess(middle, suffix) {
                low = middle &+ 1
            } else {
                high = middle
            }
        }
        return (low, low < count && self.head(low) == head && order(low, suffix) == 0)
    }

    /// A smaller range in which a search for a key with `head` ends, by every `step`th head of a range. None of these looks waits
    /// for another one, as the steps of a binary search do, most of them for another line of memory.
    @inline(__always) private func narrow(_ head: UInt32, _ low: Int, _ high: Int, by step: Int) -> (Int, Int)
    {
        var (less, notGreater) = (0, 0)
        var sample = low &+ step &- 1
        while sample < high {
            let other = self.head(sample)
            less &+= other < head ? 1 : 0
            notGreater &+= other <= head ? 1 : 0
            sample &+= step
        }
        return (low &+ less &* step, min(high, low &+ (notGreater &+ 1) &* step &- 1))
    }

    /// The index of the child whose keys include `key`: the last whose separator is not greater. The first child
    /// takes everything below.
    @inline(__always) func childIndex(_ key: ByteView) -> Int {
        let (index, found) = search(key)
        return found ? index : max(index - 1, 0)
    }

    /// Whether the key at `index`, which has the head of `suffix`, is less.
    @inline(__always) private func isLess(_ index: Int, _ suffix: ByteView) -> Bool {
        order(index, suffix) < 0
    }

    /// Whether the key at `first` is less than that at `second`. What follows the heads is looked at only where they tie.
    @inline(__always) func isOrdered(_ first: Int, _ second: Int) -> Bool {
        let (head, other) = (self.head(first), self.head(second))
        guard head == other else { return head < other }
        let rests = rest(first).compare(rest(second))
        return rests != 0 ? rests < 0 : suffixLength(first) < suffixLength(second)
    }

    /// Compares what follows the head, then the lengths: heads are padded with zeros, so a shorter key may tie.
    @inline(__always) private func order(_ index: Int, _ suffix: ByteView) -> Int {
        let length = suffixLength(index)
        if length > 4, suffix.count > 4 {
            let rests = rest(index).compare(suffix.dropFirst(4))
            if rests != 0 { return rests }
        }
        return length - suffix.count
    }
}
