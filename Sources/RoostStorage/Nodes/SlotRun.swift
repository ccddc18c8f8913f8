import RoostBytes

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The slots of a leaf's pending changes, in key order and in the form that ``PageView`` reads.
///
/// In memory of its own rather than in a `ByteBuffer`, because every leaf that a transaction changes copies its slots: an
/// object less to make and to release for each.
@safe struct SlotRun: ~Copyable {
    private var base: UnsafeMutablePointer<UInt64>
    private(set) var count: Int
    private(set) var capacity: Int

    private static let smallest = 8

    init() {
        unsafe self.init(base: SlotRun.allocate(SlotRun.smallest), count: 0, capacity: SlotRun.smallest)
    }

    private init(base: UnsafeMutablePointer<UInt64>, count: Int, capacity: Int) {
        unsafe self.base = base
        self.count = count
        self.capacity = capacity
    }

    deinit { unsafe free(base) }

    /// A copy with room for a few more.
    func copy() -> SlotRun {
        let capacity = max(count + 4, SlotRun.smallest)
        let copy = unsafe SlotRun.allocate(capacity)
        unsafe copy.update(from: base, count: count)
        return unsafe SlotRun(base: copy, count: count, capacity: capacity)
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<UInt64> {
        guard let memory = unsafe malloc(capacity * PageView.slotLength) else { fatalError("out of memory") }
        return unsafe memory.bindMemory(to: UInt64.self, capacity: capacity)
    }

    /// The slots as bytes; valid until the next change or release.
    var view: ByteView { unsafe ByteView(UnsafeRawPointer(base), count: count * PageView.slotLength) }

    /// Where the cell of the slot at `index` is.
    func cell(_ index: Int) -> Int {
        precondition(index >= 0 && index < count)
        return unsafe Int(UInt64(littleEndian: base[index]) >> 48)
    }

    /// Makes the slot at `index` lead to another cell.
    mutating func setCell(_ cell: Int, at index: Int) {
        precondition(index >= 0 && index < count)
        let rest = unsafe UInt64(littleEndian: base[index]) & ~(0xffff << 48)
        unsafe base[index] = (rest | UInt64(UInt16(cell)) << 48).littleEndian
    }

    /// Overwrites the slot at `index`.
    mutating func set(_ index: Int, head: UInt32, length: Int, cell: Int) {
        precondition(index >= 0 && index < count)
        let slot = UInt64(head) | UInt64(UInt16(length)) << 32 | UInt64(UInt16(cell)) << 48
        unsafe base[index] = slot.littleEndian
    }

    /// Makes room for a slot at `index`, to be set next.
    mutating func insert(at index: Int) {
        precondition(index >= 0 && index <= count)
        if count == capacity {
            let grown = unsafe SlotRun.allocate(2 * capacity)
            unsafe grown.update(from: base, count: count)
            unsafe free(base)
            unsafe base = grown
            capacity *= 2
        }
        unsafe (base + index + 1).update(from: base + index, count: count - index)
        count += 1
    }

    mutating func remove(at index: Int) {
        precondition(index >= 0 && index < count)
        count -= 1
        unsafe (base + index).update(from: base + index + 1, count: count - index)
    }
}
