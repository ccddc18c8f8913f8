import RoostBytes

/// A node as bytes: the payload of a node chunk, or the pending changes of a leaf in memory.
///
/// ```
/// level (1) | 0 (1) | count (2) | prefix length (2) | 0 (2) | prefix | slots (8 each) | cells
/// ```
/// Keys are sorted; what all share stands once, as the prefix. A slot holds the next four bytes of its key as a
/// number that orders as they do, the key's length after the prefix, and where its cell is; so a binary search
/// seldom leaves the slots (the heads of Graefe's and Leis's B-tree work). A cell holds the rest of the key, then
/// the entry or the child.
///
/// The bytes may be damaged or hostile: the constructor checks that the slots are inside, everything else is
/// checked where it is read.
@safe struct PageView {
    static let headerLength = 8
    static let slotLength = 8
    /// The bits of an entry's tag that say what its reference is (``ReferenceKind``).
    static let kindMask: UInt8 = 3

    let bytes: ByteView
    let level: UInt8
    let count: Int
    let prefixLength: Int
    /// Eight bytes for each key.
    private let slots: ByteView

    /// A view of `bytes`, `nil` when they can't be a node.
    init?(_ bytes: ByteView) {
        guard bytes.count >= PageView.headerLength, bytes[0] <= Format.maximumLevel,
            bytes[1] == 0, bytes.load(UInt16.self, at: 6) == 0
        else { return nil }
        self.bytes = bytes
        level = bytes[0]
        count = Int(bytes.load(UInt16.self, at: 2))
        prefixLength = Int(bytes.load(UInt16.self, at: 4))
        let start = PageView.headerLength + prefixLength
        guard start + count * PageView.slotLength <= bytes.count else { return nil }
        slots = bytes.slice(start, count * PageView.slotLength)
    }

    /// A view of pending changes: their cells, and the slots elsewhere; no prefix.
    init(pending cells: ByteView, slots: ByteView) {
        bytes = cells
        self.slots = slots
        count = slots.count / PageView.slotLength
        level = 0
        prefixLength = 0
    }

    /// A leaf without entries.
    static var empty: PageView { PageView(pending: .empty, slots: .empty) }

    var prefix: ByteView { prefixLength == 0 ? .empty : bytes.slice(PageView.headerLength, prefixLength) }

    @inline(__always) func head(_ index: Int) -> UInt32 {
        slots.load(at: index &* PageView.slotLength)
    }

    /// Head, length of the suffix and place of the cell.
    @inline(__always) func slot(_ index: Int) -> UInt64 {
        slots.load(UInt64.self, at: index &* PageView.slotLength)
    }

    /// The length of the key after the prefix.
    @inline(__always) func suffixLength(_ index: Int) -> Int {
        Int(slots.load(UInt16.self, at: index &* PageView.slotLength &+ 4))
    }

    @inline(__always) func cell(_ index: Int) -> Int {
        Int(slots.load(UInt16.self, at: index &* PageView.slotLength &+ 6))
    }

    /// The key's bytes after prefix and head; fewer than there should be when the page is damaged.
    @inline(__always) func rest(_ index: Int) -> ByteView {
        let start = min(cell(index), bytes.count)
        return bytes.slice(start, min(max(suffixLength(index) - 4, 0), bytes.count - start))
    }

    func keyLength(_ index: Int) -> Int { prefixLength + suffixLength(index) }

    /// Appends the key at `index` to `buffer`.
    func appendKey(_ index: Int, to buffer: ByteBuffer) {
        buffer.append(prefix)
        let length = suffixLength(index)
        var head = head(index).bigEndian
        unsafe withUnsafeBytes(of: &head) {
            buffer.append(unsafe ByteView($0).slice(0, min(length, 4)))
        }
        buffer.append(rest(index))
    }

    func key(_ index: Int) -> [UInt8] {
        let buffer = ByteBuffer(capacity: keyLength(index))
        appendKey(index, to: buffer)
        return buffer.view.array
    }

    /// The entry at `index` of a leaf.
    func entry(_ index: Int) throws(MalformedBytes) -> Entry {
        try taggedEntry(index).entry
    }

    /// The entry at `index` and its tag byte, in which pending changes keep flags.
    @inline(__always)
    func taggedEntry(_ index: Int) throws(MalformedBytes) -> (entry: Entry, tag: UInt8) {
        let (entry, bytes) = try entryBytes(index)
        return (entry, bytes[0])
    }

    /// The entry at `index` and its bytes from the tag on, as they stand in the cell.
    @inline(__always)
    func entryBytes(_ index: Int) throws(MalformedBytes) -> (entry: Entry, bytes: ByteView) {
        let start = cell(index) + max(suffixLength(index) - 4, 0)
        guard start < bytes.count else { throw MalformedBytes(at: start) }
        let tag = bytes[start]
        var reader = ByteReader(bytes.dropFirst(start + 1))
        var entry = Entry.inline(try reader.prefixed())
        let kind = tag & PageView.kindMask
        if kind != 0 {
            entry.kind = unsafe unsafeBitCast(kind, to: ReferenceKind.self)
            entry.chunk = try PageView.chunk(&reader)
        }
        return (entry, bytes.slice(start, 1 + reader.position))
    }

    /// The child at `index` of a branch node.
    func child(_ index: Int) throws(MalformedBytes) -> StoredChild {
        let start = cell(index) + max(suffixLength(index) - 4, 0)
        guard start < bytes.count else { throw MalformedBytes(at: start) }
        var reader = ByteReader(bytes.dropFirst(start))
        let chunk = try PageView.chunk(&reader)
        let summary = Summary(count: try reader.varint(), bytes: try reader.varint())
        return StoredChild(chunk: chunk, summary: summary, reduction: try reader.prefixed().array)
    }

    /// How many entries the child at `index` holds, and the tree's reduction over them; empty where none is stored.
    func childReduction(_ index: Int) throws(MalformedBytes) -> (count: UInt64, reduction: ByteView) {
        let start = cell(index) + max(suffixLength(index) - 4, 0)
        guard start < bytes.count else { throw MalformedBytes(at: start) }
        var reader = ByteReader(bytes.dropFirst(start))
        _ = try PageView.chunk(&reader)
        let count = try reader.varint()
        _ = try reader.varint()
        return (count, try reader.prefixed())
    }

    /// Only where the child at `index` is: all that a look-up needs.
    @inline(__always)
    func childChunk(_ index: Int) throws(MalformedBytes) -> ChunkReference {
        let start = cell(index) + max(suffixLength(index) - 4, 0)
        guard start < bytes.count else { throw MalformedBytes(at: start) }
        var reader = ByteReader(bytes.dropFirst(start))
        return try PageView.chunk(&reader)
    }

    /// Reads where a chunk is: its offset (6) and its length (varint).
    @inline(__always)
    static func chunk(_ reader: inout ByteReader) throws(MalformedBytes) -> ChunkReference {
        let low = try reader.integer(UInt32.self)
        let high = try reader.integer(UInt16.self)
        let length = try reader.varint()
        guard length <= UInt64(UInt32.max) else { throw MalformedBytes(at: reader.position) }
        return ChunkReference(offset: UInt64(high) << 32 | UInt64(low), length: UInt32(length))
    }
}

// MARK: - Search

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

// MARK: - PageMerge

/// A leaf's page with changes merged in, made without taking its entries apart: what stands between two changes is copied
/// as it stands.
///
/// This works where the page's cells stand in the order of the keys, without gaps, as they do in the pages that Roost makes, and
/// where the changed keys begin with the page's prefix. ``LeafBuilder`` merges everything else.
struct PageMerge {
    private let base: PageView
    private let changes: PageView
    private var steps: [Step] = []
    private var count: Int
    /// Bytes of the merged page.
    private(set) var length: Int

    /// Where a change comes: before the entry at `position`, or in its place.
    private struct Step {
        let position: Int
        let replaces: Bool
        let isDeletion: Bool
    }

    /// - Parameter changes: their keys in order, deletions with ``DeltaPage/tombstone`` in their tags.
    /// - Returns: `nil` where the two can't be merged in this way.
    init?(_ base: PageView, _ changes: PageView) throws(MalformedBytes) {
        guard base.level == 0, base.hasCellsInOrder else { return nil }
        (self.base, self.changes) = (base, changes)
        (count, length) = (base.count, base.bytes.count)
        steps.reserveCapacity(changes.count)
        let key = ByteBuffer()
        var next = 0
        for index in 0..<changes.count {
            key.reset()
            changes.appendKey(index, to: key)
            guard key.count >= base.prefixLength, base.prefix.commonPrefix(key.view) == base.prefixLength
            else {
                return nil
            }
            let (found, isEqual) = base.search(key.view)
            let position = max(found, next)
            let replaces = isEqual && found >= next
            if replaces {
                count -= 1
                length -= PageView.slotLength + base.cell(after: position) - base.cell(position)
            }
            let bytes = try changes.entryBytes(index).bytes
            let isDeletion = bytes[0] & DeltaPage.tombstone != 0
            if !isDeletion {
                count += 1
                length += PageView.slotLength + max(key.count - base.prefixLength - 4, 0) + bytes.count
            }
            steps.append(Step(position: position, replaces: replaces, isDeletion: isDeletion))
            next = position + (replaces ? 1 : 0)
        }
        guard length <= LeafBuilder.largestPage else { throw MalformedBytes(at: 0) }
    }

    /// Writes the page to `memory`, which has ``length`` bytes.
    func write(to memory: UnsafeMutableRawBufferPointer) throws(MalformedBytes) {
        precondition(memory.count == length)
        guard let start = memory.baseAddress else { return }
        var writer = unsafe ByteWriter(start)
        unsafe writer.put(UInt32(count) << 16)
        unsafe writer.put(UInt32(base.prefixLength))
        unsafe writer.put(base.prefix)
        var slot = unsafe writer.position
        unsafe writer = ByteWriter(slot + count * PageView.slotLength)
        let key = ByteBuffer()
        var next = 0
        for (index, step) in steps.enumerated() {
            unsafe copy(next..<step.position, &slot, &writer, from: start)
            next = step.position + (step.replaces ? 1 : 0)
            guard !step.isDeletion else { continue }
            key.reset()
            changes.appendKey(index, to: key)
            let suffix = key.view.dropFirst(base.prefixLength)
            let cell = unsafe writer.position - start
            let place = UInt64(suffix.count) << 32 | UInt64(cell) << 48
            unsafe slot.storeBytes(
                of: (UInt64(PageView.head(of: suffix)) | place).littleEndian, as: UInt64.self)
            unsafe slot += PageView.slotLength
            unsafe writer.put(suffix.dropFirst(min(suffix.count, 4)))
            let bytes = try changes.entryBytes(index).bytes
            unsafe writer.put(bytes[0] & PageView.kindMask)
            unsafe writer.put(bytes.dropFirst(1))
        }
        unsafe copy(next..<base.count, &slot, &writer, from: start)
    }

    /// Copies entries as they stand, with slots that say where the cells are now.
    private func copy(
        _ range: Range<Int>, _ slot: inout UnsafeMutableRawPointer, _ writer: inout ByteWriter,
        from start: UnsafeMutableRawPointer
    ) {
        guard !range.isEmpty else { return }
        let first = base.cell(range.lowerBound)
        let moved = unsafe UInt64(truncatingIfNeeded: writer.position - start - first) << 48
        for index in range {
            unsafe slot.storeBytes(of: (base.slot(index) &+ moved).littleEndian, as: UInt64.self)
            unsafe slot += PageView.slotLength
        }
        unsafe writer.put(base.bytes.slice(first, base.cell(after: range.upperBound - 1) - first))
    }
}

extension PageView {
    /// Whether the cells take all bytes after the slots, in the order of the keys.
    fileprivate var hasCellsInOrder: Bool {
        var next = PageView.headerLength + prefixLength + count * PageView.slotLength
        guard count > 0 else { return next == bytes.count }
        guard cell(0) == next else { return false }
        for index in 1..<max(count, 1) {
            let cell = cell(index)
            guard cell > next else { return false }
            next = cell
        }
        return next < bytes.count
    }

    /// Where the cell after that at `index` is, if cells stand in order.
    fileprivate func cell(after index: Int) -> Int { index + 1 < count ? cell(index + 1) : bytes.count }
}

extension LeafBuilder {
    /// Merges `changes` into `base` in memory that `makeRoom` gives for a number of bytes.
    ///
    /// - Parameter builder: used only where ``PageMerge`` can't merge the two.
    /// - Throws: ``MalformedBytes`` where `base` is not sound, or the merged leaf is more than a page: the editor writes a leaf
    ///   before it is.
    static func merge(
        _ base: PageView, _ changes: PageView, using builder: @autoclosure () -> LeafBuilder,
        _ makeRoom: (Int) -> UnsafeMutableRawBufferPointer
    ) throws(MalformedBytes) {
        if let merge = try PageMerge(base, changes) {
            return unsafe try merge.write(to: makeRoom(merge.length))
        }
        let builder = builder()
        builder.reset()
        try builder.merge(base, changes)
        guard builder.fitsPage else { throw MalformedBytes(at: 0) }
        let page = builder.build(0..<builder.count).page
        unsafe makeRoom(page.count).copyMemory(from: page.buffer)
        extendLifetime(builder)
    }
}
