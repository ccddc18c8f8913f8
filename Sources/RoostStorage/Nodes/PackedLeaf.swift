import RoostBytes

/// The form in which leaves stand in the file: each entry as what it doesn't have in common with the one before.
///
/// ```
/// length of the page (varint) | count (varint) | prefix, with its length | entries
/// entry: control (2) | suffix of the key | inline bytes | where the chunk is | its length
/// ```
/// A page is made for searching; of its 34 bytes for a key of 16 and a reference, two thirds can be told from the entries
/// around it. Packing makes a file of 300-byte values a tenth smaller, and what is read of it is unpacked once for the
/// cache. Prefix compression in leaves goes back to Bayer and Unterauer's prefix B-trees (1977).
enum PackedLeaf {
    /// What the bits of an entry's control word say.
    enum Control {
        static let kind: UInt16 = 0b11
        /// The suffix is as long as that of the entry before.
        static let sameSuffixLength: UInt16 = 1 << 2
        static let sameInlineLength: UInt16 = 1 << 3
        static let sameChunkLength: UInt16 = 1 << 4
        /// The chunk begins where the one before ends.
        static let nextChunk: UInt16 = 1 << 5
        /// Where the number begins of bytes that the suffix has in common with the one before.
        static let sharedSuffixShift: UInt16 = 6
        static let sharedInlineShift: UInt16 = 11
        /// A number that is this or more follows as a varint.
        static let manyShared = 31
    }

    // MARK: Packing

    /// Appends `page`, a leaf, packed to `output`, which is empty.
    ///
    /// - Parameters:
    ///   - pageLength: how many bytes the page takes as it is unpacked.
    ///   - dropped: how many bytes all keys have in common after the page's own prefix: pending changes have none, and
    ///     become a page that has.
    /// - Returns: `false` where that would not be shorter than the page; `output` is of no use then.
    static func pack(
        _ page: PageView, length pageLength: Int, dropping dropped: Int = 0, to output: ByteBuffer
    ) throws(MalformedBytes) -> Bool {
        output.append(varint: UInt64(pageLength))
        output.append(varint: UInt64(page.count))
        output.append(varint: UInt64(page.prefixLength + dropped))
        let prefixEnd = output.count + page.prefixLength + dropped
        if page.count > 0 { page.appendKey(0, to: output) } else { output.append(page.prefix) }
        output.resize(to: prefixEnd)
        var (lastHead, lastLength, lastRest) = (0 as UInt32, dropped, ByteView.empty)
        var lastInline = ByteView.empty
        var lastChunk = ChunkReference.nowhere
        for index in 0..<page.count {
            let entry = try page.entryBytes(index).entry
            let (head, length, rest) = (page.head(index), page.suffixLength(index), page.rest(index))
            let limit = min(lastLength, length)
            let difference = lastHead ^ head
            var shared = dropped
            if index > 0 {
                shared =
                    difference != 0
                    ? min(difference.leadingZeroBitCount / 8, limit)
                    : limit <= 4 ? limit : 4 + lastRest.commonPrefix(rest)
            }
            let sharedInline = lastInline.commonPrefix(entry.inline)
            var control = UInt16(entry.kind.rawValue)
            if length == lastLength { control |= Control.sameSuffixLength }
            if entry.inline.count == lastInline.count { control |= Control.sameInlineLength }
            if entry.kind != .none {
                if entry.chunk.length == lastChunk.length { control |= Control.sameChunkLength }
                if entry.chunk.offset == lastChunk.end { control |= Control.nextChunk }
            }
            control |= UInt16(min(shared &- dropped, Control.manyShared)) << Control.sharedSuffixShift
            control |= UInt16(min(sharedInline, Control.manyShared)) << Control.sharedInlineShift

            output.reserve(length + entry.inline.count + largestOverhead)
            let base = unsafe output.mutableBytes.baseAddress!
            var writer = unsafe ByteWriter(base + output.count)
            unsafe writer.put(control)
            if shared &- dropped >= Control.manyShared { unsafe writer.put(varint: UInt64(shared - dropped)) }
            if control & Control.sameSuffixLength == 0 { unsafe writer.put(varint: UInt64(length - dropped)) }
            if shared < 4 {
                for position in shared..<max(shared, min(length, 4)) {
                    unsafe writer.put(UInt8(truncatingIfNeeded: head >> UInt32(24 &- 8 &* position)))
                }
            }
            unsafe writer.put(rest.dropFirst(max(shared &- 4, 0)))
            if sharedInline >= Control.manyShared { unsafe writer.put(varint: UInt64(sharedInline)) }
            if control & Control.sameInlineLength == 0 {
                unsafe writer.put(varint: UInt64(entry.inline.count))
            }
            unsafe writer.put(entry.inline.dropFirst(sharedInline))
            if entry.kind != .none {
                if control & Control.nextChunk == 0 {
                    unsafe writer.put(varint: entry.chunk.distance(from: lastChunk.end))
                }
                if control & Control.sameChunkLength == 0 {
                    unsafe writer.put(varint: UInt64(entry.chunk.length))
                }
                lastChunk = entry.chunk
            }
            unsafe output.resize(to: writer.position - base)
            if output.count >= pageLength { return false }
            (lastHead, lastLength, lastRest, lastInline) = (head, length, rest, entry.inline)
        }
        return true
    }

    /// What an entry takes at most beside suffix and inline bytes: its control word and six varints.
    private static let largestOverhead = 2 + 6 * 10

    // MARK: Unpacking

    /// Unpacks a leaf into the memory that `makeRoom` gives for a number of bytes.
    ///
    /// The memory's content is of no use where an error is thrown.
    static func unpack(
        _ packed: ByteView, _ makeRoom: (Int) -> UnsafeMutableRawBufferPointer
    ) throws(MalformedBytes) {
        var reader = ByteReader(packed)
        let length = try reader.length(limit: LeafBuilder.largestPage)
        let count = try reader.length(limit: length / PageView.slotLength)
        let prefix = try reader.prefixed()
        let cells = PageView.headerLength + prefix.count + count * PageView.slotLength
        guard cells <= length else { throw MalformedBytes(at: 0) }
        let memory = unsafe makeRoom(length)
        unsafe try fill(memory, count, prefix, from: reader)
    }

    /// Unpacks a leaf into `output`, in place of what it holds.
    static func unpack(_ packed: ByteView, into output: ByteBuffer) throws(MalformedBytes) {
        unsafe try unpack(packed) { unsafe output.emptied(toHold: $0) }
    }

    /// Reads how many bytes a key's suffix, or inline bytes, have in common with those before, and the rest of them.
    ///
    /// - Parameter length: that of those before; afterwards that of these.
    @inline(__always)
    private static func readRun(
        _ reader: inout ByteReader, _ control: UInt16, _ sharedShift: UInt16, _ sameLength: UInt16,
        _ length: inout Int, limit: Int
    ) throws(MalformedBytes) -> (shared: Int, rest: ByteView) {
        let last = length
        var shared = Int(control >> sharedShift) & Control.manyShared
        if shared == Control.manyShared { shared = try reader.length(limit: last) }
        if control & sameLength == 0 { length = try reader.length(limit: limit) }
        guard shared <= min(last, length) else { throw MalformedBytes(at: reader.position) }
        return (shared, try reader.view(length &- shared))
    }

    /// Fills a page with `count` entries.
    ///
    /// One function with its variables in registers, because nearly all of the time of loading a leaf is spent here. That
    /// an entry has room in the page is made sure of once, before its parts are written.
    private static func fill(
        _ memory: UnsafeMutableRawBufferPointer, _ count: Int, _ prefix: ByteView, from source: ByteReader
    ) throws(MalformedBytes) {
        let base = memory.baseAddress!
        var reader = source
        var writer = unsafe ByteWriter(base)
        unsafe writer.put(UInt32(count) << 16)
        unsafe writer.put(UInt32(prefix.count))
        unsafe writer.put(prefix)
        var slot = unsafe writer.position
        var cell = PageView.headerLength + prefix.count + count * PageView.slotLength
        // What the next entry may have in common with the one before: the suffix of its key, of which the first four bytes
        // are the head and the others stand in the cell, its inline bytes, its chunk.
        var head: UInt32 = 0
        var (suffixLength, rest) = (0, 0)
        var (inlineLength, inline) = (0, 0)
        var (chunkEnd, chunkLength) = (0 as UInt64, 0 as UInt64)
        for _ in 0..<count {
            let control = try reader.integer(UInt16.self)

            let (sharedSuffix, suffix) = try readRun(
                &reader, control, Control.sharedSuffixShift, Control.sameSuffixLength, &suffixLength,
                limit: Format.maximumKeyLength)
            let (sharedInline, inlineRest) = try readRun(
                &reader, control, Control.sharedInlineShift, Control.sameInlineLength, &inlineLength,
                limit: Format.maximumInlineLength)
            let kind = UInt8(truncatingIfNeeded: control & Control.kind)
            if kind != 0 {
                var offset = chunkEnd
                if control & Control.nextChunk == 0 {
                    offset = ChunkReference.offset(try reader.varint(), from: chunkEnd)
                }
                if control & Control.sameChunkLength == 0 { chunkLength = try reader.varint() }
                guard offset <= ChunkReference.maximumOffset, chunkLength <= UInt64(UInt32.max) else {
                    throw MalformedBytes(at: reader.position)
                }
                chunkEnd = offset &+ chunkLength
            }

            let inlineStart = cell &+ max(suffixLength &- 4, 0) &+ 1 &+ varintLength(UInt64(inlineLength))
            let inlineEnd = inlineStart &+ inlineLength
            let end = kind == 0 ? inlineEnd : inlineEnd &+ 6 &+ varintLength(chunkLength)
            guard end <= memory.count else { throw MalformedBytes(at: reader.position) }

            // A move of fixed length may write past its part; the next part overwrites that.
            let room = unsafe ByteWriter.roomy
            let isRoomy = reader.remaining >= room && end &+ room <= memory.count
            // The head has zeros in the place of bytes that a short suffix hasn't got.
            var inHead = 0
            if sharedSuffix < 4 {
                inHead = min(4 &- sharedSuffix, suffix.count)
                let shift = UInt32(8 &* sharedSuffix)
                var bytes: UInt32 = 0
                if isRoomy {
                    bytes = unsafe UInt32(bigEndian: suffix.start.loadUnaligned(as: UInt32.self))
                    bytes &= ~(UInt32.max >> UInt32(8 &* inHead))
                } else {
                    for index in 0..<inHead { bytes |= UInt32(suffix[index]) << UInt32(24 &- 8 &* index) }
                }
                head = head & ~(UInt32.max >> shift) | bytes >> shift
            }
            let place =
                UInt64(truncatingIfNeeded: suffixLength) << 32 | UInt64(truncatingIfNeeded: cell) << 48
            unsafe slot.storeBytes(of: (UInt64(head) | place).littleEndian, as: UInt64.self)
            unsafe slot += PageView.slotLength
            unsafe writer = ByteWriter(base + cell)
            if sharedSuffix > 4 {
                unsafe writer.put(ByteView(base + rest, count: sharedSuffix &- 4), isRoomy: isRoomy)
            }
            unsafe writer.put(suffix.dropFirst(inHead), isRoomy: isRoomy)
            unsafe writer.put(kind)
            unsafe writer.put(varint: UInt64(inlineLength))
            unsafe writer.put(ByteView(base + inline, count: sharedInline), isRoomy: isRoomy)
            unsafe writer.put(inlineRest, isRoomy: isRoomy)
            if kind != 0 {
                let offset = chunkEnd &- chunkLength
                unsafe writer.put(UInt32(truncatingIfNeeded: offset))
                unsafe writer.put(UInt16(truncatingIfNeeded: offset >> 32))
                unsafe writer.put(varint: chunkLength)
            }
            (rest, inline, cell) = (cell, inlineStart, end)
        }
        guard reader.isAtEnd, cell == memory.count else { throw MalformedBytes(at: reader.position) }
    }
}

// MARK: - SlotRun

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
