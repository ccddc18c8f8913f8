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

    /// A view of what ``fill(_:with:)`` wrote.
    init(_ bytes: ByteView) {
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
            var hash = Hash(page.head(index), page.suffixLength(index), page.rest(index))
            for _ in 0..<functions {
                let bit = hash.next(below: count)
                unsafe bits[bit >> 3] |= 1 << UInt8(bit & 7)
            }
        }
    }

    /// `false` where the leaf has no entry under `key`.
    func mayContain(_ key: ByteView) -> Bool {
        guard count > 0, prefix.commonPrefix(key) == prefix.count else { return false }
        let suffix = key.dropFirst(prefix.count)
        var hash = Hash(PageView.head(of: suffix), suffix.count, suffix.dropFirst(min(suffix.count, 4)))
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

    /// No node has such an offset.
    private static let filterBit: UInt64 = 1 << 63
}
