import RoostBytes

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
