import RoostBytes

/// The pending changes of one leaf: a small page in memory, slots growing from the front, cells from the back.
///
/// Keeping changes beside the stored leaf, rather than a whole dirty leaf, makes memory and later writing cost
/// per change. A tombstone hides an entry of the stored leaf; ``replaces`` marks a change of an entry that is there
/// too, so that counts stay exact without looking it up again.
struct DeltaPage: ~Copyable {
    static let tombstone: UInt8 = 0x04
    static let replaces: UInt8 = 0x08

    /// The capacity of a first change's page, in bytes.
    private static let smallest = 256
    /// Slots and cells use 16-bit offsets.
    static let largest = 65_535

    private(set) var count = 0
    private let buffer: ByteBuffer
    /// Where the lowest cell starts.
    private var bottom: Int
    /// Bytes of cells that no slot refers to any more.
    private var garbage = 0

    init() { self.init(capacity: DeltaPage.smallest) }

    private init(capacity: Int) {
        buffer = ByteBuffer(capacity: capacity)
        buffer.resize(to: capacity)
        bottom = capacity
    }

    /// A copy with room for some more changes.
    func copy() -> DeltaPage {
        resized(to: max(DeltaPage.smallest, min(used + used / 4 + 128, DeltaPage.largest)))
    }

    var view: PageView { PageView(pending: buffer.view, count: count) }

    /// Bytes that slots and cells take.
    var used: Int { slotsEnd + (buffer.count - bottom) - garbage }
    var capacity: Int { buffer.count }

    private var slotsEnd: Int { PageView.headerLength + count * PageView.slotLength }

    /// The bytes that a change takes at most.
    static func length(_ key: ByteView, _ entry: Entry) -> Int {
        PageView.slotLength + key.count + 1 + 3 + entry.inline.count + (entry.kind == .none ? 0 : 11)
    }

    /// Inserts or replaces (`found`) the change at `index`.
    mutating func put(_ key: ByteView, _ entry: Entry, tag: UInt8, at index: Int, found: Bool) {
        let length = DeltaPage.length(key, entry)
        if bottom - slotsEnd < length { makeRoom(length) }
        if found {
            garbage += cellLength(index)
        } else {
            let slot = PageView.headerLength + index * PageView.slotLength
            buffer.move(from: slot, to: slot + PageView.slotLength, count: slotsEnd - slot)
            count += 1
        }
        writeCell(key, entry, tag)
        let slot = PageView.headerLength + index * PageView.slotLength
        buffer.store(PageView.head(of: key), at: slot)
        buffer.store(UInt16(key.count), at: slot + 4)
        buffer.store(UInt16(bottom), at: slot + 6)
    }

    /// Removes the change at `index`.
    mutating func remove(at index: Int) {
        garbage += cellLength(index)
        let slot = PageView.headerLength + index * PageView.slotLength
        let next = slot + PageView.slotLength
        buffer.move(from: next, to: slot, count: slotsEnd - next)
        count -= 1
    }

    private mutating func writeCell(_ key: ByteView, _ entry: Entry, _ tag: UInt8) {
        let rest = max(key.count - 4, 0)
        let inlineLength = varintLength(UInt64(entry.inline.count))
        var length = rest + 1 + inlineLength + entry.inline.count
        if entry.kind != .none { length += 6 + varintLength(UInt64(entry.chunk.length)) }
        bottom -= length
        var position = bottom
        if rest > 0 {
            buffer.store(key.dropFirst(4), at: position)
            position += rest
        }
        buffer.store(tag | entry.kind.rawValue, at: position)
        buffer.store(varint: UInt64(entry.inline.count), at: position + 1)
        position += 1 + inlineLength
        buffer.store(entry.inline, at: position)
        if entry.kind != .none {
            position += entry.inline.count
            buffer.store(UInt32(truncatingIfNeeded: entry.chunk.offset), at: position)
            buffer.store(UInt16(truncatingIfNeeded: entry.chunk.offset >> 32), at: position + 4)
            buffer.store(varint: UInt64(entry.chunk.length), at: position + 6)
        }
    }

    private func cellLength(_ index: Int) -> Int {
        let page = view
        guard let (entry, _) = try? page.taggedEntry(index) else { return 0 }
        var length = max(page.suffixLength(index) - 4, 0) + 1
        length += varintLength(UInt64(entry.inline.count)) + entry.inline.count
        if entry.kind != .none { length += 6 + varintLength(UInt64(entry.chunk.length)) }
        return length
    }

    /// Squeezes out garbage, or moves to a larger page.
    private mutating func makeRoom(_ length: Int) {
        let needed = used + length
        precondition(needed <= DeltaPage.largest, "a leaf's changes are written before they reach this size")
        self = resized(to: min(max(capacity, needed + needed / 2), DeltaPage.largest))
    }

    private func resized(to capacity: Int) -> DeltaPage {
        var copy = DeltaPage(capacity: capacity)
        copy.count = count
        if garbage == 0 {
            copy.copyCells(of: self)
        } else {
            copy.gatherCells(of: self)
        }
        return copy
    }

    /// Copies slots and cells as they lie, moving all cells by the difference in capacity.
    private mutating func copyCells(of other: borrowing DeltaPage) {
        let shift = capacity - other.capacity
        bottom = other.bottom + shift
        let old = other.buffer.view
        buffer.store(old.slice(0, other.slotsEnd), at: 0)
        buffer.store(old.dropFirst(other.bottom), at: bottom)
        guard shift != 0 else { return }
        for index in 0..<count {
            let place = PageView.headerLength + index * PageView.slotLength + 6
            buffer.store(UInt16(Int(old.load(UInt16.self, at: place)) + shift), at: place)
        }
    }

    /// Copies slots, and of the cells only those in use.
    private mutating func gatherCells(of other: borrowing DeltaPage) {
        let old = other.buffer.view
        buffer.store(old.slice(0, other.slotsEnd), at: 0)
        for index in 0..<count {
            let length = other.cellLength(index)
            let place = PageView.headerLength + index * PageView.slotLength + 6
            bottom -= length
            buffer.store(old.slice(Int(old.load(UInt16.self, at: place)), length), at: bottom)
            buffer.store(UInt16(bottom), at: place)
        }
    }
}
