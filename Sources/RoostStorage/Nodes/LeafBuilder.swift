import RoostBytes

/// Builds leaves from entries that come in key order.
///
/// Entries are gathered in one flat run first, because where a leaf ends, and so what its keys have in common,
/// shows only then.
final class LeafBuilder {
    /// Keys and entries one after another: `key length (2) | key | tag, inline bytes and reference as in a cell`.
    private let run = ByteBuffer(capacity: 16_384)
    private var items: [Item] = []
    private let page = ByteBuffer(capacity: 16_384)

    private struct Item {
        var start: Int
        var keyLength: Int
        var length: Int
        var ownedBytes: UInt64

        /// What the entry takes in a page: its slot holds the first bytes of what follows the common prefix.
        func size(withoutPrefix prefix: Int) -> Int {
            PageView.slotLength + length - prefix - min(keyLength - prefix, 4)
        }
    }

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }
    /// Bytes that the gathered entries take in one page without a common prefix.
    private(set) var size = 0

    func reset() {
        run.reset(keeping: 1 << 20)
        items.removeAll(keepingCapacity: true)
        size = 0
    }

    /// Adds an entry whose key is greater than all before.
    func add(key: ByteView, _ entry: Entry) {
        let start = run.count
        run.append(key)
        finish(start, key.count, entry)
    }

    /// Adds the entry at `index` of `page`.
    func add(_ page: PageView, _ index: Int, _ entry: Entry) {
        let start = run.count
        page.appendKey(index, to: run)
        finish(start, run.count - start, entry)
    }

    /// Adds the entry at `index` of a stored page as it stands there.
    @inline(__always)
    func add(_ page: PageView, _ index: Int) throws(MalformedBytes) {
        let (entry, bytes) = try page.entryBytes(index)
        let start = run.count
        page.appendKey(index, to: run)
        let keyLength = run.count - start
        run.append(bytes)
        let length = run.count - start
        append(Item(start: start, keyLength: keyLength, length: length, ownedBytes: entry.ownedBytes))
    }

    @inline(__always)
    private func append(_ item: Item) {
        items.append(item)
        size += item.size(withoutPrefix: 0)
    }

    @inline(__always)
    private func finish(_ start: Int, _ keyLength: Int, _ entry: Entry) {
        run.append(entry.kind.rawValue)
        run.append(prefixed: entry.inline)
        if entry.kind != .none {
            run.append(integer: UInt32(truncatingIfNeeded: entry.chunk.offset))
            run.append(integer: UInt16(truncatingIfNeeded: entry.chunk.offset >> 32))
            run.append(varint: UInt64(entry.chunk.length))
        }
        let length = run.count - start
        append(Item(start: start, keyLength: keyLength, length: length, ownedBytes: entry.ownedBytes))
    }

    /// Forgets the first `count` entries.
    func removeFirst(_ count: Int) {
        let start = count < items.count ? items[count].start : run.count
        run.move(from: start, to: 0, count: run.count - start)
        run.resize(to: run.count - start)
        items.removeFirst(count)
        size = 0
        for index in items.indices {
            items[index].start -= start
            size += items[index].size(withoutPrefix: 0)
        }
    }

    func key(_ index: Int) -> ByteView { run.view.slice(items[index].start, items[index].keyLength) }

    /// Where to cut the gathered entries into pages of at most `nodeSize` bytes, if entries are not larger: even parts,
    /// or, when `packing`, full pages with the rest in the last one, as suits a tree that grows at its end.
    ///
    /// Sizes are exact, so that a full leaf whose entries are replaced by others of their size is not cut in two, and
    /// one key that lacks what all others start with does not make them take their whole length.
    func cuts(nodeSize: Int, packing: Bool) -> [Range<Int>] {
        guard items.count > 1, pageSize(0..<items.count) > nodeSize else {
            return items.isEmpty ? [] : [0..<items.count]
        }
        let full = cuts(nodeSize: nodeSize, target: .max)
        guard !packing, full.count > 1 else { return full }
        return cuts(nodeSize: nodeSize, target: full.reduce(0) { $0 + pageSize($1) } / full.count)
    }

    /// Fills one page after another, each until it has `target` bytes or the next entry would not fit.
    private func cuts(nodeSize: Int, target: Int) -> [Range<Int>] {
        var cuts: [Range<Int>] = []
        var start = 0
        var prefix = items[0].keyLength
        var size = 0
        for index in items.indices {
            // Keys are sorted, so what the first and the last have in common is common to all.
            let common = key(start).slice(0, prefix).commonPrefix(key(index))
            let added = items[index].size(withoutPrefix: prefix)
            let next = index > start && common == prefix ? size + added : pageSize(start..<index + 1)
            // Where keys have much in common, a page is a quarter of a node at least beside that.
            if index > start, next > max(nodeSize, common + nodeSize / 4) || size >= target {
                cuts.append(start..<index)
                start = index
                prefix = items[index].keyLength
                size = pageSize(index..<index + 1)
            } else {
                prefix = common
                size = next
            }
        }
        return cuts + [start..<items.count]
    }

    /// Bytes of the page of the entries in `range`. O(entries).
    private func pageSize(_ range: Range<Int>) -> Int {
        let prefix = commonPrefix(range)
        return items[range].reduce(PageView.headerLength + prefix) { $0 + $1.size(withoutPrefix: prefix) }
    }

    /// The length of what all keys in `range` start with.
    private func commonPrefix(_ range: Range<Int>) -> Int {
        range.isEmpty ? 0 : key(range.lowerBound).commonPrefix(key(range.upperBound - 1))
    }

    /// Bytes that the entries in `range` take as pending changes, which have no common prefix.
    func pendingSize(_ range: Range<Int>) -> Int {
        items[range].reduce(0) { $0 + PageView.slotLength + $1.length }
    }

    /// Whether the gathered entries fit one page, whose slots hold 16-bit offsets.
    var fitsPage: Bool {
        size <= LeafBuilder.largestPage || pageSize(0..<items.count) <= LeafBuilder.largestPage
    }
    static let largestPage = 65_535

    /// The page of the entries in `range` and their summary without the page itself. The view is valid until the
    /// next call.
    func build(_ range: Range<Int>) -> (page: ByteView, summary: Summary) {
        let prefix = commonPrefix(range)
        var cell = PageView.headerLength + prefix + range.count * PageView.slotLength
        var summary = Summary(count: UInt64(range.count))
        page.reset()
        page.append(UInt8(0))
        page.append(UInt8(0))
        page.append(integer: UInt16(range.count))
        page.append(integer: UInt16(prefix))
        page.append(integer: UInt16(0))
        if !range.isEmpty { page.append(key(range.lowerBound).slice(0, prefix)) }
        for item in items[range] {
            let suffix = run.view.slice(item.start + prefix, item.keyLength - prefix)
            page.append(integer: PageView.head(of: suffix))
            page.append(integer: UInt16(suffix.count))
            page.append(integer: UInt16(cell))
            cell += item.length - prefix - min(suffix.count, 4)
            summary.bytes += item.ownedBytes
        }
        for item in items[range] {
            let skipped = min(item.keyLength, prefix + 4)
            page.append(run.view.slice(item.start + skipped, item.length - skipped))
        }
        return (page.view, summary)
    }
}
