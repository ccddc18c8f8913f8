import RoostBytes

/// The keys that part the children of a branch node in memory; immutable, so copies of the node share it.
///
/// Child `i` holds the keys from separator `i` up to separator `i + 1`; separator 0 is empty and stands for
/// everything below.
final class SeparatorTable: Sendable {
    /// Never written after the initializer, so any thread may read it.
    private nonisolated(unsafe) let keys: ByteBuffer
    private let ends: [UInt32]
    private let heads: [UInt32]
    /// What all separators but the first begin with.
    private let prefix: Int

    private init(keys: ByteBuffer, ends: [UInt32]) {
        unsafe self.keys = keys
        self.ends = ends
        (prefix, heads) = SeparatorTable.index(keys.view, ends)
    }

    convenience init(_ separators: some Sequence<[UInt8]>) {
        let keys = ByteBuffer()
        var ends: [UInt32] = []
        for separator in separators {
            keys.append(separator)
            ends.append(UInt32(keys.count))
        }
        self.init(keys: keys, ends: ends)
    }

    /// The separators of a stored branch node.
    convenience init(_ page: PageView) {
        let keys = ByteBuffer(capacity: page.bytes.count * 2)
        var ends: [UInt32] = [0]
        ends.reserveCapacity(page.count)
        for index in stride(from: 1, to: page.count, by: 1) {
            page.appendKey(index, to: keys)
            ends.append(UInt32(keys.count))
        }
        self.init(keys: keys, ends: ends)
    }

    private static func index(_ keys: ByteView, _ ends: [UInt32]) -> (Int, [UInt32]) {
        guard ends.count > 1 else { return (0, ends.map { _ in 0 }) }
        func key(_ index: Int) -> ByteView {
            keys.slice(Int(ends[index - 1]), Int(ends[index] - ends[index - 1]))
        }
        let prefix = key(1).commonPrefix(key(ends.count - 1))
        let heads = ends.indices.map { index -> UInt32 in
            // Keys out of order, as damage may leave them, need not all have the prefix.
            index == 0 ? 0 : PageView.head(of: key(index).dropFirst(min(prefix, key(index).count)))
        }
        return (prefix, heads)
    }

    var count: Int { ends.count }
    /// Bytes of all separators.
    var size: Int { unsafe keys.count }

    func key(_ index: Int) -> ByteView {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        return unsafe keys.view.slice(start, Int(ends[index]) - start)
    }

    /// The child whose keys include `key`. O(log count).
    @inline(__always) func childIndex(_ key: ByteView) -> Int {
        upperBound(key) { $0 <= 0 }
    }

    /// The last child that may hold keys less than `key`.
    func childIndex(below key: ByteView) -> Int {
        upperBound(key) { $0 < 0 }
    }

    /// The last index, above 0 only where the separator's order relative to `key` passes `admits`.
    @inline(__always)
    private func upperBound(_ key: ByteView, _ admits: (Int) -> Bool) -> Int {
        guard count > 1 else { return 0 }
        let bytes = unsafe keys.view
        let common = min(prefix, key.count)
        let order = bytes.slice(0, common).compare(key.slice(0, common))
        if order > 0 || order == 0 && key.count < prefix { return 0 }
        if order < 0 { return count - 1 }
        let head = PageView.head(of: key.dropFirst(prefix))
        var low = 1
        var high = count
        while low < high {
            let middle = (low &+ high) &>> 1
            let other = heads[middle]
            let start = Int(ends[middle - 1])
            if other < head
                || other == head && admits(bytes.slice(start, Int(ends[middle]) - start).compare(key))
            {
                low = middle &+ 1
            } else {
                high = middle
            }
        }
        return low - 1
    }

    /// A table in which the separators of `range` give way to `new`. The first separator is always empty.
    func replacing(_ range: Range<Int>, with new: [[UInt8]]) -> SeparatorTable {
        let keys = ByteBuffer(capacity: size + new.reduce(0) { $0 + $1.count } + 16)
        var ends: [UInt32] = []
        ends.reserveCapacity(count + new.count)
        func add(_ key: ByteView) {
            // What comes first takes everything below, whatever parted it from its left neighbour before.
            if !ends.isEmpty { keys.append(key) }
            ends.append(UInt32(keys.count))
        }
        for index in 0..<range.lowerBound { add(key(index)) }
        for separator in new { separator.withView(add) }
        for index in range.upperBound..<count { add(key(index)) }
        return SeparatorTable(keys: keys, ends: ends)
    }
}
