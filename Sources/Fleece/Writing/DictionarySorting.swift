/// Brings the items of a dictionary into the order of their keys: integers first, then strings by their bytes.
struct DictionarySorting: ~Copyable {
    /// What a key sorts by before its bytes are looked at, and which pair of items it belongs to.
    struct Entry: BitwiseCopyable {
        var rank: UInt64
        var pair: Int
    }

    private var entries = GrowableBuffer<Entry>()
    private var sorted = GrowableBuffer<Item>()

    /// The number of pairs from which on the standard library's sort is faster than insertion.
    private static let insertionLimit = 24

    /// Sorts `items`, keys and values in turn, and drops all but the last of the pairs with equal keys.
    ///
    /// - Parameter written: The output so far, where the keys' strings are.
    /// - Returns: The number of pairs that remain, at the front of `items`.
    mutating func sort(_ items: UnsafeMutableBufferPointer<Item>, written: UnsafeRawBufferPointer) -> Int {
        let pairs = items.count / 2
        guard pairs > 1 else { return pairs }
        entries.removeAll()
        var isSorted = true
        for pair in 0..<pairs {
            let entry = unsafe Entry(rank: Self.rank(of: items[pair &* 2], written), pair: pair)
            if isSorted, pair > 0 {
                isSorted = unsafe Self.order(entries[pair &- 1], entry, items, written) < 0
            }
            entries.append(entry)
        }
        if isSorted { return pairs }
        unsafe sortEntries(items, written)
        return unsafe rearrange(items, written)
    }

    private mutating func sortEntries(
        _ items: UnsafeMutableBufferPointer<Item>, _ written: UnsafeRawBufferPointer
    ) {
        func precedes(_ left: Entry, _ right: Entry) -> Bool {
            let order = unsafe Self.order(left, right, items, written)
            return order < 0 || order == 0 && left.pair < right.pair
        }
        guard entries.count <= Self.insertionLimit else {
            var elements = unsafe entries.elements
            return unsafe elements.sort(by: precedes)
        }
        for index in 1..<entries.count {
            let entry = entries[index]
            var place = index
            while place > 0, precedes(entry, entries[place &- 1]) {
                entries[place] = entries[place &- 1]
                place &-= 1
            }
            entries[place] = entry
        }
    }

    private mutating func rearrange(
        _ items: UnsafeMutableBufferPointer<Item>, _ written: UnsafeRawBufferPointer
    ) -> Int {
        sorted.removeAll()
        for index in 0..<entries.count {
            let entry = entries[index]
            let isRepeated =
                unsafe index &+ 1 < entries.count
                && Self.order(entry, entries[index &+ 1], items, written) == 0
            if isRepeated { continue }
            unsafe sorted.append(items[entry.pair &* 2])
            unsafe sorted.append(items[entry.pair &* 2 &+ 1])
        }
        unsafe items.baseAddress?.update(from: sorted.elements.baseAddress!, count: sorted.count)
        return sorted.count / 2
    }

    /// Integers below strings; strings by their first bytes.
    @inline(__always)
    private static func rank(of key: Item, _ written: UnsafeRawBufferPointer) -> UInt64 {
        if key.isPointer {
            return unsafe 1 << 63 | ByteOrder.prefix(FleeceOutput.text(at: key.position, in: written)) >> 1
        }
        if key.header.tag == .string {
            return 1 << 63 | UInt64(key.header.bits & 0xFF) << 55
        }
        return UInt64(key.header.bits)
    }

    @inline(__always)
    private static func order(
        _ left: Entry, _ right: Entry, _ items: UnsafeMutableBufferPointer<Item>,
        _ written: UnsafeRawBufferPointer
    ) -> Int {
        if left.rank != right.rank { return left.rank < right.rank ? -1 : 1 }
        return unsafe orderOfEqualRanks(items[left.pair &* 2], items[right.pair &* 2], written)
    }

    private static func orderOfEqualRanks(_ left: Item, _ right: Item, _ written: UnsafeRawBufferPointer)
        -> Int
    {
        guard left.isPointer || right.isPointer else {
            // Equal integers; or strings of no or one byte, of which the empty one comes before U+0000.
            return Int(left.header.bits) - Int(right.header.bits)
        }
        if left.isPointer && right.isPointer && left.position == right.position { return 0 }
        return unsafe withText(of: left, written) { left in
            unsafe withText(of: right, written) { right in unsafe ByteOrder.compare(left, right) }
        }
    }

    private static func withText<R>(
        of key: Item, _ written: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        if key.isPointer { return unsafe body(FleeceOutput.text(at: key.position, in: written)) }
        let byte = UInt8(truncatingIfNeeded: key.header.bits)
        let length = Int(key.header.bits >> 8 & 0x0F)
        return unsafe withUnsafeBytes(of: byte) {
            unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<length]))
        }
    }
}
