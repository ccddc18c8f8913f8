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

// MARK: - LeafChanges

/// What changed of a stored leaf, as it stands in the file beside the leaf.
///
/// ```
/// offset of the leaf's chunk (6) | its length (varint) | deletions, with their length | packed leaf of the changes
/// ```
/// In a large tree that changes at random a leaf has few changes when they are to be written. Writing them alone, rather than
/// the leaf, is Severance's and Lohman's "Differential Files: Their Application to the Maintenance of Large Databases" (1976)
/// for each leaf.
struct LeafChanges {
    /// The bytes that a chunk of changes takes at most, so that a longer chunk is known to hold a whole leaf before it is read.
    static let largestChunk: UInt32 = 1024

    /// The leaf's chunk, which holds the leaf as a whole.
    let leaf: ChunkReference
    /// The changes, with ``DeltaPage/tombstone`` in the tags of deletions. Valid as long as this is kept.
    let page: PageView
    private let memory: ByteBuffer

    /// Reads what ``append(_:length:deletions:of:to:)`` wrote.
    init(_ bytes: ByteView) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        leaf = try PageView.chunk(&reader)
        let deletions = try reader.prefixed()
        memory = ByteBuffer(capacity: 1024)
        try PackedLeaf.unpack(bytes.dropFirst(reader.position), into: memory)
        guard let page = PageView(memory.view) else { throw MalformedBytes(at: reader.position) }
        self.page = page
        if !deletions.isEmpty { try mark(deletions) }
        let check = PageCheck(page: page, lower: nil, upper: nil, allowedTags: DeltaPage.tombstone)
        guard check.fault() == nil else { throw MalformedBytes(at: reader.position) }
    }

    /// Marks the entries whose bits are set.
    private func mark(_ deletions: ByteView) throws(MalformedBytes) {
        guard deletions.count == LeafChanges.length(ofMarksFor: page.count) else {
            throw MalformedBytes(at: 0)
        }
        for index in 0..<deletions.count * 8 where deletions[index / 8] >> UInt8(index % 8) & 1 != 0 {
            guard index < page.count else { throw MalformedBytes(at: 0) }
            let entry = try page.entry(index)
            guard entry.kind == .none, entry.inline.isEmpty else { throw MalformedBytes(at: 0) }
            unsafe memory.mutableBytes[page.cell(index) + max(page.suffixLength(index) - 4, 0)] |=
                DeltaPage.tombstone
        }
    }

    private static func length(ofMarksFor count: Int) -> Int { (count + 7) / 8 }

    /// Appends `page`, changes of the leaf at `leaf`, to `output`, which is empty.
    ///
    /// - Parameters:
    ///   - length: how many bytes `page` takes.
    ///   - deletions: which of the changes are deletions: entries with nothing but their keys.
    /// - Returns: `false` where packing the changes would not make them shorter; `output` is of no use then.
    static func append(
        _ page: PageView, length: Int, deletions: [Bool], of leaf: ChunkReference, to output: ByteBuffer
    ) throws(MalformedBytes) -> Bool {
        let packed = ByteBuffer(capacity: length)
        guard try PackedLeaf.pack(page, length: length, to: packed) else { return false }
        output.append(integer: UInt32(truncatingIfNeeded: leaf.offset))
        output.append(integer: UInt16(truncatingIfNeeded: leaf.offset >> 32))
        output.append(varint: UInt64(leaf.length))
        var marks: [UInt8] = []
        if deletions.contains(true) {
            marks = [UInt8](repeating: 0, count: LeafChanges.length(ofMarksFor: deletions.count))
            for index in deletions.indices where deletions[index] {
                marks[index / 8] |= 1 << UInt8(index % 8)
            }
        }
        marks.withView { output.append(prefixed: $0) }
        output.append(packed.view)
        return true
    }
}
