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
    ///   - length: how many bytes the page takes as it is unpacked.
    ///   - dropped: how many bytes all keys have in common after the page's own prefix: pending changes have none, and
    ///     become a page that has.
    /// - Returns: `false` where that would not be shorter than the page; `output` is of no use then.
    static func pack(
        _ page: PageView, length: Int, dropping dropped: Int = 0, to output: ByteBuffer
    ) throws(MalformedBytes) -> Bool {
        output.append(varint: UInt64(length))
        output.append(varint: UInt64(page.count))
        output.append(varint: UInt64(page.prefixLength + dropped))
        output.append(page.prefix)
        if page.count > 0 { page.appendSuffix(0, 0..<dropped, to: output) }
        var last = Entry.inline(.empty)
        for index in 0..<page.count {
            let entry = try page.entryBytes(index).entry
            output.reserve(page.suffixLength(index) + entry.inline.count + largestOverhead)
            var writer = unsafe ByteWriter(output.mutableBytes.baseAddress! + output.count)
            unsafe pack(page, index, dropping: dropped, entry, after: last, to: &writer)
            unsafe output.resize(to: writer.position - output.mutableBytes.baseAddress!)
            let chunk = entry.kind == .none ? last.chunk : entry.chunk
            last = Entry(kind: entry.kind, inline: entry.inline, chunk: chunk)
            if output.count >= length { return false }
        }
        return true
    }

    /// What an entry takes at most beside suffix and inline bytes: its control word and six varints.
    private static let largestOverhead = 2 + 6 * 10

    @inline(__always) @unsafe
    private static func pack(
        _ page: PageView, _ index: Int, dropping dropped: Int, _ entry: Entry, after last: Entry,
        to writer: inout ByteWriter
    ) {
        let suffixLength = page.suffixLength(index)
        let sharedKey = index == 0 ? dropped : sharedSuffix(page, index)
        let sharedSuffix = sharedKey - dropped
        let sharedInline = last.inline.commonPrefix(entry.inline)
        var control = UInt16(entry.kind.rawValue)
        if suffixLength == (index == 0 ? dropped : page.suffixLength(index - 1)) {
            control |= Control.sameSuffixLength
        }
        if entry.inline.count == last.inline.count { control |= Control.sameInlineLength }
        if entry.kind != .none {
            if entry.chunk.length == last.chunk.length { control |= Control.sameChunkLength }
            if entry.chunk.offset == last.chunk.end { control |= Control.nextChunk }
        }
        control |= UInt16(min(sharedSuffix, Control.manyShared)) << Control.sharedSuffixShift
        control |= UInt16(min(sharedInline, Control.manyShared)) << Control.sharedInlineShift
        unsafe writer.put(control)
        if sharedSuffix >= Control.manyShared { unsafe writer.put(varint: UInt64(sharedSuffix)) }
        if control & Control.sameSuffixLength == 0 {
            unsafe writer.put(varint: UInt64(suffixLength - dropped))
        }
        unsafe putSuffix(page, index, from: sharedKey, to: &writer)
        if sharedInline >= Control.manyShared { unsafe writer.put(varint: UInt64(sharedInline)) }
        if control & Control.sameInlineLength == 0 { unsafe writer.put(varint: UInt64(entry.inline.count)) }
        unsafe writer.put(entry.inline.dropFirst(sharedInline))
        guard entry.kind != .none else { return }
        if control & Control.nextChunk == 0 {
            unsafe writer.put(varint: entry.chunk.distance(from: last.chunk.end))
        }
        if control & Control.sameChunkLength == 0 { unsafe writer.put(varint: UInt64(entry.chunk.length)) }
    }

    /// How many bytes the suffix at `index` has in common with the one before.
    @inline(__always)
    private static func sharedSuffix(_ page: PageView, _ index: Int) -> Int {
        let limit = min(page.suffixLength(index - 1), page.suffixLength(index))
        let difference = page.head(index - 1) ^ page.head(index)
        if difference != 0 { return min(difference.leadingZeroBitCount / 8, limit) }
        return limit <= 4 ? limit : 4 + page.rest(index - 1).commonPrefix(page.rest(index))
    }

    @inline(__always) @unsafe
    private static func putSuffix(
        _ page: PageView, _ index: Int, from start: Int, to writer: inout ByteWriter
    ) {
        let inHead = min(page.suffixLength(index), 4)
        if start < inHead {
            let head = page.head(index)
            for position in start..<inHead {
                unsafe writer.put(UInt8(truncatingIfNeeded: head >> UInt32(24 - 8 * position)))
            }
        }
        unsafe writer.put(page.rest(index).dropFirst(max(start - 4, 0)))
    }

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
        var page = unsafe Page(memory, count: count, prefix: prefix)
        for _ in 0..<count { try page.add(&reader) }
        guard reader.isAtEnd, page.isFull else { throw MalformedBytes(at: reader.position) }
    }

    /// Unpacks a leaf into `output`, which is empty.
    static func unpack(_ packed: ByteView, into output: ByteBuffer) throws(MalformedBytes) {
        unsafe try unpack(packed) { length in
            output.resize(to: length)
            return unsafe output.mutableBytes
        }
    }

    /// A page that is being filled, through pointers: ``add(_:)`` makes sure once that the whole entry has room, and then
    /// writes its parts without asking for each.
    @safe private struct Page {
        private let base: UnsafeMutableRawPointer
        private let length: Int
        /// Where the next entry's slot and cell go.
        private var slot: Int
        private var cell: Int
        /// What the next entry may have in common with the one before: the suffix of its key, of which the first four
        /// bytes are the head and the others stand in the cell, its inline bytes, its chunk.
        private var head: UInt32 = 0
        private var suffixLength = 0
        private var rest = 0
        private var inline = 0
        private var inlineLength = 0
        private var chunkEnd: UInt64 = 0
        private var chunkLength: UInt64 = 0

        init(_ memory: UnsafeMutableRawBufferPointer, count: Int, prefix: ByteView) {
            unsafe base = memory.baseAddress!
            length = memory.count
            slot = PageView.headerLength + prefix.count
            cell = slot + count * PageView.slotLength
            var writer = unsafe ByteWriter(base)
            unsafe writer.put(UInt32(count) << 16)
            unsafe writer.put(UInt32(prefix.count))
            unsafe writer.put(prefix)
        }

        var isFull: Bool { cell == length }

        /// Adds the next entry.
        @inline(__always)
        mutating func add(_ reader: inout ByteReader) throws(MalformedBytes) {
            let control = try reader.integer(UInt16.self)
            let (sharedSuffix, suffix) = try readSuffix(&reader, control)
            let (sharedInline, inlineRest) = try readInline(&reader, control)
            let kind = UInt8(control & Control.kind)
            if kind != 0 { try readChunk(&reader, control) }

            let inlineStart = cell + max(suffixLength &- 4, 0) + 1 + varintLength(UInt64(inlineLength))
            let inlineEnd = inlineStart + inlineLength
            let end = kind == 0 ? inlineEnd : inlineEnd + 6 + varintLength(chunkLength)
            guard end <= length else { throw MalformedBytes(at: reader.position) }
            var writer = unsafe ByteWriter(base + cell)
            unsafe putSuffix(sharedSuffix, suffix, to: &writer)
            unsafe writer.put(kind)
            unsafe writer.put(varint: UInt64(inlineLength))
            unsafe writer.put(ByteView(base + inline, count: sharedInline))
            unsafe writer.put(inlineRest)
            if kind != 0 {
                let offset = chunkEnd - chunkLength
                unsafe writer.put(UInt32(truncatingIfNeeded: offset))
                unsafe writer.put(UInt16(truncatingIfNeeded: offset >> 32))
                unsafe writer.put(varint: chunkLength)
            }
            inline = inlineStart
            slot += PageView.slotLength
            cell = end
        }

        @inline(__always)
        private mutating func readSuffix(
            _ reader: inout ByteReader, _ control: UInt16
        ) throws(MalformedBytes) -> (shared: Int, suffix: ByteView) {
            var shared = Int(control >> Control.sharedSuffixShift) & Control.manyShared
            if shared == Control.manyShared { shared = try reader.length(limit: self.length) }
            let length =
                control & Control.sameSuffixLength != 0
                ? suffixLength : try reader.length(limit: Format.maximumKeyLength)
            guard shared <= min(suffixLength, length) else { throw MalformedBytes(at: reader.position) }
            suffixLength = length
            return (shared, try reader.view(length - shared))
        }

        @inline(__always)
        private mutating func readInline(
            _ reader: inout ByteReader, _ control: UInt16
        ) throws(MalformedBytes) -> (shared: Int, rest: ByteView) {
            var shared = Int(control >> Control.sharedInlineShift)
            if shared == Control.manyShared { shared = try reader.length(limit: self.length) }
            let length =
                control & Control.sameInlineLength != 0
                ? inlineLength : try reader.length(limit: Format.maximumInlineLength)
            guard shared <= min(inlineLength, length) else { throw MalformedBytes(at: reader.position) }
            inlineLength = length
            return (shared, try reader.view(length - shared))
        }

        @inline(__always)
        private mutating func readChunk(_ reader: inout ByteReader, _ control: UInt16) throws(MalformedBytes)
        {
            var offset = chunkEnd
            if control & Control.nextChunk == 0 {
                offset = ChunkReference.offset(try reader.varint(), from: chunkEnd)
            }
            if control & Control.sameChunkLength == 0 { chunkLength = try reader.varint() }
            guard offset <= ChunkReference.maximumOffset, chunkLength <= UInt64(UInt32.max) else {
                throw MalformedBytes(at: reader.position)
            }
            chunkEnd = offset + chunkLength
        }

        /// Writes the slot and the part of the key that stands in the cell: `shared` bytes of the suffix before, then
        /// `suffix`. The head has zeros in the place of bytes that a short suffix hasn't got.
        @inline(__always) @unsafe
        private mutating func putSuffix(_ shared: Int, _ suffix: ByteView, to writer: inout ByteWriter) {
            var inHead = 0
            if shared < 4 {
                inHead = min(4 &- shared, suffix.count)
                head &= ~(UInt32.max >> UInt32(8 &* shared))
                for index in 0..<inHead { head |= UInt32(suffix[index]) << UInt32(24 &- 8 &* (shared &+ index)) }
            }
            let place = UInt64(UInt16(suffixLength)) << 32 | UInt64(UInt16(cell)) << 48
            unsafe (base + slot).storeBytes(of: (UInt64(head) | place).littleEndian, as: UInt64.self)
            if shared > 4 { unsafe writer.put(ByteView(base + rest, count: shared &- 4)) }
            unsafe writer.put(suffix.dropFirst(inHead))
            rest = cell
        }
    }
}
