import RoostBytes

/// Some entries of a tree on their way to the new file, in key order.
struct EntryBatch {
    struct Item {
        fileprivate(set) var start: Int
        fileprivate(set) var keyLength: Int
        fileprivate(set) var inlineLength: Int
        let kind: ReferenceKind
        let chunk: ChunkReference
        /// Where the value is in the new file, once that is known.
        fileprivate(set) var target: ChunkReference?
    }

    private let text = ByteBuffer(capacity: 1 << 16)
    private(set) var items: [Item] = []
    /// Bytes of keys, inline bytes, and chunks referred to.
    private(set) var size = 0

    mutating func reset() {
        text.reset(keeping: 1 << 20)
        items.removeAll(keepingCapacity: true)
        size = 0
    }

    /// Adds the entry at `index` of a leaf.
    mutating func add(_ page: PageView, _ index: Int, _ entry: Entry) {
        let start = text.count
        page.appendKey(index, to: text)
        let keyLength = text.count - start
        text.append(entry.inline)
        items.append(
            Item(
                start: start, keyLength: keyLength, inlineLength: entry.inline.count, kind: entry.kind,
                chunk: entry.chunk))
        size +=
            text.count - start + MemoryLayout<Item>.stride
            + (entry.kind == .none ? 0 : Int(entry.chunk.length))
    }

    /// Notes where the value of the entry at `index` is in the new file.
    mutating func locate(_ index: Int, _ target: ChunkReference) { items[index].target = target }

    func key(_ index: Int) -> ByteView { text.view.slice(items[index].start, items[index].keyLength) }

    /// The entry as it stands in the new file.
    func entry(_ index: Int) -> Entry {
        let item = items[index]
        let inline = text.view.slice(item.start + item.keyLength, item.inlineLength)
        return Entry(
            kind: item.kind, inline: inline, chunk: item.target ?? .nowhere)
    }
}
