import RoostBytes

/// What the cache keeps of a stored leaf in place of the leaf itself: a Bloom filter of its keys, and its size.
///
/// ```
/// length of the page (4) | count (2) | prefix length (2) | prefix | bits
/// ```
/// With it, most keys that the leaf has not got are known to be absent without reading the leaf. A filter takes about a
/// thirtieth of the leaf's memory, so filters of leaves that are only written to fit where the leaves do not.
///
/// B. H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970; the bits of a key come from one hash as in
/// Kirsch and Mitzenmacher, "Less Hashing, Same Performance", 2006.
struct LeafFilter {
    private static let headerLength = 8
    /// With four functions, about one in eighty absent keys passes.
    private static let bitsForKey = 10
    private static let functions = 4

    /// Bytes of the leaf's page.
    let pageLength: Int
    let count: Int
    /// What all keys of the leaf start with.
    let prefix: ByteView
    private let bits: ByteView
    /// All of the filter.
    fileprivate let bytes: ByteView

    /// A view of what ``fill(_:with:)`` wrote.
    init(_ bytes: ByteView) {
        self.bytes = bytes
        pageLength = Int(bytes.load(UInt32.self, at: 0))
        count = Int(bytes.load(UInt16.self, at: 4))
        let prefixLength = Int(bytes.load(UInt16.self, at: 6))
        prefix = bytes.slice(LeafFilter.headerLength, prefixLength)
        bits = bytes.dropFirst(LeafFilter.headerLength + prefixLength)
    }

    /// Bytes that the filter of a leaf takes.
    static func length(for page: PageView) -> Int {
        headerLength + page.prefixLength + (page.count * bitsForKey + 7) / 8
    }

    /// Writes the filter of a leaf to `memory`, which has ``length(for:)`` bytes.
    static func fill(_ memory: UnsafeMutableRawBufferPointer, with page: PageView) {
        guard let base = memory.baseAddress else { return }
        unsafe base.storeBytes(of: UInt32(page.bytes.count).littleEndian, as: UInt32.self)
        unsafe base.storeBytes(of: UInt16(page.count).littleEndian, toByteOffset: 4, as: UInt16.self)
        unsafe base.storeBytes(of: UInt16(page.prefixLength).littleEndian, toByteOffset: 6, as: UInt16.self)
        unsafe (base + headerLength).copyMemory(from: page.prefix.start, byteCount: page.prefixLength)
        let start = headerLength + page.prefixLength
        let bits = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[start...])
        unsafe bits.initializeMemory(as: UInt8.self, repeating: 0)
        let count = UInt64(bits.count) * 8
        for index in 0..<page.count {
            unsafe add(
                Hash(page.head(index), page.suffixLength(index), page.rest(index)), to: bits, of: count)
        }
    }

    @inline(__always)
    private static func add(_ hash: Hash, to bits: UnsafeMutableRawBufferPointer, of count: UInt64) {
        var hash = hash
        for _ in 0..<functions {
            let bit = hash.next(below: count)
            unsafe bits[bit >> 3] |= 1 << UInt8(bit & 7)
        }
    }

    /// Whether the keys of `changes` start as those of the leaf do.
    func canAdd(_ changes: PageView) -> Bool {
        changes.count == 0
            || [0, changes.count - 1].allSatisfy { index in
                changes.key(index).withView { prefix.commonPrefix($0) == prefix.count }
            }
    }

    /// Writes to `memory`, which has as many bytes as this filter, that of its leaf with `changes`, which ``canAdd(_:)``: more
    /// keys pass than of a filter made anew, and its size is the greatest that the leaf may have.
    fileprivate func fill(_ memory: UnsafeMutableRawBufferPointer, adding changes: PageView) {
        guard let base = memory.baseAddress else { return }
        unsafe memory.copyMemory(from: bytes.buffer)
        let length = pageLength + changes.bytes.count + changes.count * PageView.slotLength
        unsafe base.storeBytes(of: UInt32(length).littleEndian, as: UInt32.self)
        let count = min(count + changes.count, Int(UInt16.max))
        unsafe base.storeBytes(of: UInt16(count).littleEndian, toByteOffset: 4, as: UInt16.self)
        let bits = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[(memory.count - self.bits.count)...])
        let key = ByteBuffer()
        for index in 0..<changes.count {
            key.reset()
            changes.appendKey(index, to: key)
            unsafe LeafFilter.add(
                Hash(key.view.dropFirst(prefix.count)), to: bits, of: UInt64(bits.count) * 8)
        }
    }

    /// `false` where the leaf has no entry under `key`.
    func mayContain(_ key: ByteView) -> Bool {
        guard count > 0, prefix.commonPrefix(key) == prefix.count else { return false }
        var hash = Hash(key.dropFirst(prefix.count))
        let count = UInt64(bits.count) * 8
        for _ in 0..<LeafFilter.functions {
            let bit = hash.next(below: count)
            if bits[bit >> 3] >> UInt8(bit & 7) & 1 == 0 { return false }
        }
        return true
    }

    /// The places of one key's bits.
    private struct Hash {
        private var value: UInt32
        private let step: UInt32

        private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

        /// Hashes a key as a leaf holds it, in slot and cell, so that no key has to be put together: its first four bytes, its
        /// length, and the rest.
        @inline(__always)
        init(_ head: UInt32, _ length: Int, _ rest: ByteView) {
            var hash = (UInt64(head) << 32 | UInt64(truncatingIfNeeded: length)) &* Hash.factor
            var index = 0
            while index <= rest.count &- 8 {
                hash = (hash ^ hash >> 32 ^ rest.load(UInt64.self, at: index)) &* Hash.factor
                index &+= 8
            }
            if index < rest.count {
                var last: UInt64 = 0
                while index < rest.count {
                    last = last << 8 | UInt64(rest[index])
                    index &+= 1
                }
                hash = (hash ^ hash >> 32 ^ last) &* Hash.factor
            }
            hash = (hash ^ hash >> 32) &* Hash.factor
            value = UInt32(truncatingIfNeeded: hash >> 32)
            step = UInt32(truncatingIfNeeded: hash) | 1
        }

        /// Hashes what a key has after the prefix.
        @inline(__always)
        init(_ suffix: ByteView) {
            self.init(PageView.head(of: suffix), suffix.count, suffix.dropFirst(min(suffix.count, 4)))
        }

        @inline(__always)
        mutating func next(below count: UInt64) -> Int {
            defer { value &+= step }
            return Int(truncatingIfNeeded: (UInt64(value) &* count) >> 32)
        }
    }
}

extension NodeCache {
    /// The filter of the leaf at `offset`, if it is here; valid while `pin` exists.
    func filter(_ offset: UInt64, _ pin: borrowing EpochReclaimer.Pin) -> LeafFilter? {
        bytes(offset | NodeCache.filterBit, pin).map { LeafFilter($0) }
    }

    /// Takes the filter of the leaf at `offset`, which is `page`. The caller holds a pin.
    func insertFilter(of page: PageView, at offset: UInt64) {
        let node = makeNode(offset: offset | NodeCache.filterBit, length: LeafFilter.length(for: page))
        unsafe LeafFilter.fill(node.bytes, with: page)
        insert(node)
    }

    /// Takes the filter of the leaf at `offset`: the one that `filter` is of, with `changes`. The caller holds a pin.
    func insertFilter(_ filter: LeafFilter, adding changes: PageView, at offset: UInt64) {
        let node = makeNode(offset: offset | NodeCache.filterBit, length: filter.bytes.count)
        unsafe filter.fill(node.bytes, adding: changes)
        insert(node)
    }

    /// No node has such an offset.
    static let filterBit: UInt64 = 1 << 63
}

// MARK: - BloomFilter

/// Says of a key that it was never added, or that it may have been, by four functions (B. H. Bloom, "Space/Time
/// Trade-offs in Hash Coding with Allowable Errors", 1970): each is 16 bits of one hash.
struct BloomFilter {
    /// 8 KiB, a bit for each value of 16 bits: with a thousand keys, one in 80,000 others seems to have been added.
    private var words = [UInt64](repeating: 0, count: 1 << 16 / 64)

    mutating func add(_ key: ByteView) {
        var hash = XXH3.hash(key)
        for _ in 0..<4 {
            words[Int(hash & 0xffff) / 64] |= 1 << (hash % 64)
            hash >>= 16
        }
    }

    func mayContain(_ key: ByteView) -> Bool {
        var hash = XXH3.hash(key)
        for _ in 0..<4 {
            guard words[Int(hash & 0xffff) / 64] >> (hash % 64) & 1 == 1 else { return false }
            hash >>= 16
        }
        return true
    }
}

// MARK: - LeafImage

/// A leaf as it is at one moment, pending changes merged in, in memory of its own.
///
/// Cursors and ranks work on images: copying a leaf costs about a nanosecond per entry, and afterwards nothing in
/// the cache or the tree has to be held.
final class LeafImage {
    private let bytes = ByteBuffer(capacity: 8192)
    private var builder: LeafBuilder?
    private(set) var page: PageView

    init() {
        page = .empty
    }

    func clear() { page = .empty }

    var count: Int { page.count }

    /// Copies a stored leaf.
    func load(_ stored: PageView) {
        bytes.reset()
        bytes.append(stored.bytes)
        page = PageView(bytes.view) ?? page
    }

    /// Merges a leaf with pending changes; `base` is the page of its stored leaf.
    ///
    /// The editor writes a leaf before the two together are more than a page holds, so one that is, is damaged.
    func load(_ leaf: LeafNode, base: PageView?) throws(MalformedBytes) {
        unsafe try LeafBuilder.merge(base ?? .empty, leaf.delta.view, using: keptBuilder()) {
            unsafe bytes.emptied(toHold: $0)
        }
        page = PageView(bytes.view) ?? page
    }

    private func keptBuilder() -> LeafBuilder {
        let builder = self.builder ?? LeafBuilder()
        self.builder = builder
        return builder
    }
}

extension LeafBuilder {
    /// Adds the entries of `base` as changed by `pending`, in key order.
    ///
    /// - Throws: ``MalformedBytes`` where `base` has keys out of order or is wrong in another way: a page built of such
    ///   would mix up their bytes.
    func merge(_ base: PageView?, _ pending: PageView) throws(MalformedBytes) {
        if let base {
            let isSound = base.level == 0 && PageCheck(page: base, lower: nil, upper: nil).fault() == nil
            guard isSound else { throw MalformedBytes(at: 0) }
        }
        var next = 0
        let key = ByteBuffer()
        for index in 0..<pending.count {
            let (entry, tag) = try pending.taggedEntry(index)
            if let base {
                key.reset()
                pending.appendKey(index, to: key)
                let (position, found) = base.search(key.view)
                try add(base, next..<max(next, position))
                next = found ? position + 1 : max(next, position)
            }
            if tag & DeltaPage.tombstone == 0 { add(pending, index, entry) }
        }
        if let base { try add(base, next..<max(next, base.count)) }
    }

    /// Adds the changes in `newer`, and those in `older`, if there are any, that it does not replace, in key order. Deletions
    /// are added as entries without anything.
    ///
    /// - Returns: which of them are deletions.
    func unite(_ older: PageView?, _ newer: PageView) throws(MalformedBytes) -> [Bool] {
        var deletions: [Bool] = []
        var next = 0
        func add(_ page: PageView, _ index: Int) throws(MalformedBytes) {
            let (entry, tag) = try page.taggedEntry(index)
            deletions.append(tag & DeltaPage.tombstone != 0)
            self.add(page, index, entry)
        }
        func addOlder(below end: Int) throws(MalformedBytes) {
            guard let older else { return }
            while next < end {
                try add(older, next)
                next += 1
            }
        }
        let key = ByteBuffer()
        for index in 0..<newer.count {
            if let older {
                key.reset()
                newer.appendKey(index, to: key)
                let (position, found) = older.search(key.view)
                try addOlder(below: position)
                if found { next = max(next, position + 1) }
            }
            try add(newer, index)
        }
        try addOlder(below: older?.count ?? 0)
        return deletions
    }

    private func add(_ page: PageView, _ range: Range<Int>) throws(MalformedBytes) {
        for index in range { try add(page, index) }
    }
}
