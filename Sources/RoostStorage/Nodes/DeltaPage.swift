import RoostBytes

/// The pending changes of one leaf: slots in key order as a stored page has them, and their cells beside.
///
/// Keeping changes beside the stored leaf, rather than a whole dirty leaf, makes memory and later writing cost
/// per change. A tombstone hides an entry of the stored leaf; ``replaces`` marks a change of an entry that is there
/// too, so that counts stay exact without looking it up again.
///
/// Every transaction that changes a leaf copies its page, so the copy takes only the slots, eight bytes a change. Cells
/// are never overwritten: a copy appends its own behind those of the page that it was made of, which doesn't look there.
struct DeltaPage: ~Copyable {
    static let tombstone: UInt8 = 0x04
    static let replaces: UInt8 = 0x08

    /// The capacity for the cells of the first changes, in bytes.
    private static let smallest = 64
    /// Slots hold 16-bit offsets of cells.
    static let largest = 65_535
    /// A page that takes no more has room for any change.
    static let largestOpen = largest - 8192

    private var slots: SlotRun
    /// This page's cells and perhaps those of copies; never moved, as readers may be in it.
    private var store: ByteBuffer
    /// This page's part of ``store``.
    private var cells: ByteView
    /// Bytes of cells that no slot refers to any more.
    private var garbage = 0

    init() {
        slots = SlotRun()
        store = ByteBuffer(capacity: DeltaPage.smallest)
        cells = store.view
    }

    private init(copying other: borrowing DeltaPage) {
        slots = other.slots.copy()
        (store, cells, garbage) = (other.store, other.cells, other.garbage)
    }

    func copy() -> DeltaPage { DeltaPage(copying: self) }

    var count: Int { slots.count }

    var view: PageView { PageView(pending: cells, slots: slots.view) }

    /// Bytes that slots and cells take.
    var used: Int { PageView.headerLength + count * PageView.slotLength + cells.count - garbage }
    /// Bytes of a page that holds the changes, of whose keys the first `shared` bytes are all the same.
    func pageLength(sharing shared: Int) -> Int {
        let page = view
        var length = used + shared
        for index in 0..<count {
            let keyLength = page.suffixLength(index)
            length -= max(keyLength - 4, 0) - max(keyLength - shared - 4, 0)
        }
        return length
    }

    /// Bytes of memory.
    var capacity: Int { slots.capacity * PageView.slotLength + store.capacity }

    /// The bytes that a change takes at most.
    static func length(_ key: ByteView, _ entry: Entry) -> Int {
        PageView.slotLength + key.count + 1 + 3 + entry.inline.count + (entry.kind == .none ? 0 : 11)
    }

    /// Inserts or replaces (`found`) the change at `index`.
    mutating func put(_ key: ByteView, _ entry: Entry, tag: UInt8, at index: Int, found: Bool) {
        let cell = appendCell(key, entry, tag)
        if found { garbage += cellLength(index) } else { slots.insert(at: index) }
        slots.set(index, head: PageView.head(of: key), length: key.count, cell: cell)
    }

    /// Removes the change at `index`.
    mutating func remove(at index: Int) {
        garbage += cellLength(index)
        slots.remove(at: index)
    }

    /// Writes the cell and returns where it is.
    @inline(__always)
    private mutating func appendCell(_ key: ByteView, _ entry: Entry, _ tag: UInt8) -> Int {
        let inline = entry.inline
        let rest = max(key.count - 4, 0)
        var length = rest + 1 + varintLength(UInt64(inline.count)) + inline.count
        if entry.kind != .none { length += 6 + varintLength(UInt64(entry.chunk.length)) }
        makeRoom(length)
        let start = cells.count
        store.resize(to: start + length)
        cells = store.view
        // There is room for all of it, so the parts are written without asking for each.
        var writer = unsafe ByteWriter(store.mutableBytes.baseAddress! + start)
        if rest > 0 { unsafe writer.put(key.dropFirst(4)) }
        unsafe writer.put(tag | entry.kind.rawValue)
        unsafe writer.put(varint: UInt64(inline.count))
        unsafe writer.put(inline)
        if entry.kind != .none {
            unsafe writer.put(UInt32(truncatingIfNeeded: entry.chunk.offset))
            unsafe writer.put(UInt16(truncatingIfNeeded: entry.chunk.offset >> 32))
            unsafe writer.put(varint: UInt64(entry.chunk.length))
        }
        return start
    }

    private func cellLength(_ index: Int) -> Int {
        let page = view
        guard let (entry, _) = try? page.taggedEntry(index) else { return 0 }
        var length = max(page.suffixLength(index) - 4, 0) + 1
        length += varintLength(UInt64(entry.inline.count)) + entry.inline.count
        if entry.kind != .none { length += 6 + varintLength(UInt64(entry.chunk.length)) }
        return length
    }

    /// Sees that a cell of `length` bytes can follow: where there is no room, or where a copy of this page has taken it (as
    /// a transaction that was given up leaves it), the cells in use move to memory of their own.
    private mutating func makeRoom(_ length: Int) {
        if store.count == cells.count, store.capacity - store.count >= length { return }
        let needed = cells.count - garbage + length
        precondition(needed <= DeltaPage.largest, "a leaf's changes are written before they reach this size")
        let capacity = min(max(DeltaPage.smallest, needed + needed / 2), DeltaPage.largest)
        let next = ByteBuffer(capacity: capacity)
        if garbage == 0 {
            next.append(cells)
        } else {
            for index in 0..<count {
                let cell = cells.slice(slots.cell(index), cellLength(index))
                slots.setCell(next.count, at: index)
                next.append(cell)
            }
            garbage = 0
        }
        (store, cells) = (next, next.view)
    }
}
