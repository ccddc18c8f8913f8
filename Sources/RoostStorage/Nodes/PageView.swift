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
