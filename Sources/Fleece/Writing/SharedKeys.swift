/// A growing, numbered list of dictionary keys that many bodies share, so that each stores a number instead.
///
/// Only keys that look like part of a schema take part, those ``isEligible(_:)`` accepts, and at most
/// ``capacity`` of them. Numbers are given in order and never change: a body can be read with any list that
/// begins with the list it was written with. Whoever stores bodies must store the list before or together
/// with them, ``keys`` or ``encoded()``.
///
/// A value type: copying is cheap, adding to a copy leaves the original alone, which is all that aborting a
/// transaction takes. Looking a key up costs one hash and one comparison.
public struct SharedKeys: Sendable {
    /// How many keys there can be: the integers from 0 that fit a two-byte value.
    public static let capacity = 2048

    /// The longest key that can be shared, in bytes.
    public static let maximumKeyLength = ShortString.maximumLength

    private var table = Table()

    /// An empty list.
    public init() {}

    /// The list with these keys numbered in order.
    ///
    /// - Throws: ``FleeceError/Code/malformedBody`` if a key is not eligible or named twice, or there are too many.
    public init(_ keys: some Sequence<String>) throws(FleeceError) {
        for key in keys {
            guard number(of: key) == nil, add(key) != nil else {
                throw FleeceError(.malformedBody, "“\(key)” cannot be number \(count) of the shared keys.")
            }
        }
    }

    /// The list that ``encoded()`` stored.
    ///
    /// - Throws: ``FleeceError/Code/malformedBody`` if the bytes are not an array of distinct eligible keys.
    public init(encoded bytes: [UInt8]) throws(FleeceError) {
        let document = try FleeceDocument(validating: bytes)
        guard let array = document.root.array else {
            throw FleeceError(.malformedBody, "The shared keys are not an array.", offset: 0)
        }
        try self.init(array.map { $0.string ?? "?" })
    }

    /// The keys as a Fleece array of strings, the way couchbase/fleece persists them.
    public func encoded() throws(FleeceError) -> [UInt8] {
        var writer = FleeceWriter()
        writer.beginArray()
        for number in 0..<count {
            _ = unsafe withBytes(of: number) { unsafe writer.writeString(utf8: $0) }
        }
        writer.endArray()
        return try writer.finish()
    }

    /// How many keys there are. It only ever grows, so it tells whether there is something to store.
    public var count: Int { table.shorts.count }

    /// All keys, in the order of their numbers.
    public var keys: [String] { (0..<count).map { self[$0] ?? "" } }

    /// The key with this number; `nil` if there is none yet.
    public subscript(number: Int) -> String? {
        unsafe withBytes(of: number) { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The number of `key`; `nil` if it is not in the list.
    public func number(of key: String) -> Int? {
        var key = key
        return key.withUTF8 { unsafe number(ofUTF8: UnsafeRawBufferPointer($0)) }
    }

    /// Gives `key` a number unless it has one.
    ///
    /// - Returns: The number; `nil` if the key is not eligible or the list is full, and the key is to be
    ///   written as a string.
    @discardableResult
    public mutating func add(_ key: String) -> Int? {
        var key = key
        return key.withUTF8 { unsafe add(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Whether `key` may be shared: at most 16 ASCII letters, digits, hyphens and underscores.
    public static func isEligible(_ key: String) -> Bool {
        var key = key
        return key.withUTF8 { unsafe isEligible(utf8: UnsafeRawBufferPointer($0)) }
    }
}

extension SharedKeys: Equatable {
    /// Whether both lists have the same keys in the same order.
    public static func == (left: Self, right: Self) -> Bool {
        left.table === right.table || left.table.shorts == right.table.shorts
    }
}

extension SharedKeys: CustomStringConvertible {
    /// The number of keys and the keys in order.
    public var description: String { "\(count) shared keys: \(keys.joined(separator: ", "))" }
}

extension SharedKeys {
    /// The keys in four arrays that never change once built.
    private final class Table: Sendable {
        let shorts: [ShortString]
        /// All keys behind each other, and where each of them ends.
        let text: [UInt8]
        let ends: [Int]
        /// An open-addressing hash table of numbers, at most half full; ``free`` marks an empty slot.
        let slots: [UInt16]

        static let free = UInt16.max

        init() {
            (shorts, text, ends) = ([], [], [])
            slots = Array(repeating: Self.free, count: 64)
        }

        init(_ other: Table, adding bytes: UnsafeRawBufferPointer) {
            shorts = unsafe other.shorts + [ShortString(bytes)]
            text = unsafe other.text + bytes
            ends = other.ends + [text.count]
            let isCrowded = shorts.count * 2 > other.slots.count
            var slots = isCrowded ? Array(repeating: Self.free, count: other.slots.count * 2) : other.slots
            for number in (isCrowded ? 0 : shorts.count - 1)..<shorts.count {
                var slot = Self.home(of: shorts[number], in: slots)
                while slots[slot] != Self.free { slot = (slot + 1) & (slots.count - 1) }
                slots[slot] = UInt16(number)
            }
            self.slots = slots
        }

        @inline(__always)
        static func home(of short: ShortString, in slots: [UInt16]) -> Int {
            Int(truncatingIfNeeded: short.hash) & (slots.count &- 1)
        }

        @inline(__always)
        func number(of short: ShortString) -> Int? {
            var slot = Self.home(of: short, in: slots)
            while slots[slot] != Self.free {
                let number = Int(slots[slot])
                if shorts[number] == short { return number }
                slot = (slot &+ 1) & (slots.count &- 1)
            }
            return nil
        }
    }

    @inline(__always)
    func number(ofUTF8 key: UnsafeRawBufferPointer) -> Int? {
        guard key.count <= Self.maximumKeyLength else { return nil }
        return table.number(of: unsafe ShortString(key))
    }

    @inline(__always)
    mutating func add(utf8 key: UnsafeRawBufferPointer) -> Int? {
        if let number = unsafe number(ofUTF8: key) { return number }
        guard count < Self.capacity, unsafe Self.isEligible(utf8: key) else { return nil }
        table = unsafe Table(table, adding: key)
        return count - 1
    }

    private static func isEligible(utf8 key: UnsafeRawBufferPointer) -> Bool {
        guard key.count <= maximumKeyLength else { return false }
        return unsafe key.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default:
                false
            }
        }
    }

    /// Calls `body` with the bytes of the key `number`; `nil` if there is none.
    @inline(__always)
    func withBytes<R>(of number: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        guard number >= 0, number < table.ends.count else { return nil }
        let start = number == 0 ? 0 : table.ends[number &- 1]
        let end = table.ends[number]
        return unsafe table.text.withUnsafeBytes { text in
            unsafe body(UnsafeRawBufferPointer(rebasing: text[start..<end]))
        }
    }
}

// MARK: - StringTable

/// Where short strings were written, so that they need not be written again.
///
/// Open addressing with a bound on probing: a string that finds no place takes over another's, and is merely
/// written once more later. Entries out of a narrow pointer's reach are of no use and count as free, which
/// bounds the table whatever the size of the body.
struct StringTable: ~Copyable {
    /// Positions in the upper half (in units of two bytes, from 1), hashes in the lower; 0 is an empty slot.
    private var slots = GrowableBuffer<UInt64>()
    private var used = 0

    private static let initialSlots = 16
    private static let keptSlots = 512
    private static let maximumSlots = 16_384
    private static let probes = 16

    init() {}

    private mutating func fill(_ count: Int) {
        used = 0
        slots.removeAll()
        unsafe slots.append(count) { unsafe $0.initialize(repeating: 0, count: count) }
    }

    /// Forgets all strings, and leaves room for as many: bodies that follow each other are often alike.
    mutating func removeAll() {
        guard slots.count <= Self.keptSlots else {
            self = StringTable()
            return
        }
        var count = Self.initialSlots
        while count <= used * 2 { count *= 2 }
        if slots.count > 0 { fill(min(count, slots.count)) }
    }

    /// The position of a string with this hash that `isSame` confirms and that lies at `oldest` or later;
    /// otherwise notes that it is about to be written at `next`.
    @inline(__always)
    mutating func position(hash: UInt64, oldest: Int, next: Int, isSame: (Int) -> Bool) -> Int? {
        if used * 2 >= slots.count, slots.count < Self.maximumSlots { grow() }
        let hash = hash & 0xFFFF_FFFF
        let mask = slots.count &- 1
        let home = Int(truncatingIfNeeded: hash) & mask
        var target = home
        for probe in 0..<Self.probes {
            let slot = (home &+ probe) & mask
            let entry = slots[slot]
            let position = Int(truncatingIfNeeded: entry >> 32 &- 1) << 1
            if entry == 0 || position < oldest {
                target = slot
                if entry == 0 {
                    used &+= 1
                    break
                }
            } else if entry & 0xFFFF_FFFF == hash, isSame(position) {
                return position
            }
        }
        slots[target] = UInt64(truncatingIfNeeded: next >> 1 &+ 1) << 32 | hash
        return nil
    }

    @inline(never)
    private mutating func grow() {
        let count = max(slots.count * 2, Self.initialSlots)
        var larger = GrowableBuffer<UInt64>(capacity: count)
        unsafe larger.append(count) { unsafe $0.initialize(repeating: 0, count: count) }
        for index in 0..<slots.count where slots[index] != 0 {
            var slot = Int(truncatingIfNeeded: slots[index] & 0xFFFF_FFFF) & (count - 1)
            while larger[slot] != 0 { slot = (slot + 1) & (count - 1) }
            larger[slot] = slots[index]
        }
        slots = larger
    }
}

// MARK: - DictionarySorting

/// Brings the items of a dictionary into the order of their keys: integers first, then strings by their bytes.
struct DictionarySorting: ~Copyable {
    /// What a key sorts by before its bytes are looked at, and which pair of items it belongs to.
    struct Entry: BitwiseCopyable {
        var rank: UInt64
        var pair: Int
    }

    private var entries = GrowableBuffer<Entry>()
    private var sorted = GrowableBuffer<Item>()

    /// The number of pairs from which on the standard library's sort is faster than insertion.
    private static let insertionLimit = 24

    /// Sorts `items`, keys and values in turn, and drops all but the last of the pairs with equal keys.
    ///
    /// - Parameter written: The output so far, where the keys' strings are.
    /// - Returns: The number of pairs that remain, at the front of `items`.
    mutating func sort(_ items: UnsafeMutableBufferPointer<Item>, written: UnsafeRawBufferPointer) -> Int {
        let pairs = items.count / 2
        guard pairs > 1 else { return pairs }
        entries.removeAll()
        var isSorted = true
        for pair in 0..<pairs {
            let entry = unsafe Entry(rank: Self.rank(of: items[pair &* 2], written), pair: pair)
            if isSorted, pair > 0 {
                isSorted = unsafe Self.order(entries[pair &- 1], entry, items, written) < 0
            }
            entries.append(entry)
        }
        if isSorted { return pairs }
        unsafe sortEntries(items, written)
        return unsafe rearrange(items, written)
    }

    private mutating func sortEntries(
        _ items: UnsafeMutableBufferPointer<Item>, _ written: UnsafeRawBufferPointer
    ) {
        func precedes(_ left: Entry, _ right: Entry) -> Bool {
            let order = unsafe Self.order(left, right, items, written)
            return order < 0 || order == 0 && left.pair < right.pair
        }
        guard entries.count <= Self.insertionLimit else {
            var elements = unsafe entries.elements
            return unsafe elements.sort(by: precedes)
        }
        for index in 1..<entries.count {
            let entry = entries[index]
            var place = index
            while place > 0, precedes(entry, entries[place &- 1]) {
                entries[place] = entries[place &- 1]
                place &-= 1
            }
            entries[place] = entry
        }
    }

    private mutating func rearrange(
        _ items: UnsafeMutableBufferPointer<Item>, _ written: UnsafeRawBufferPointer
    ) -> Int {
        sorted.removeAll()
        for index in 0..<entries.count {
            let entry = entries[index]
            let isRepeated =
                unsafe index &+ 1 < entries.count
                && Self.order(entry, entries[index &+ 1], items, written) == 0
            if isRepeated { continue }
            unsafe sorted.append(items[entry.pair &* 2])
            unsafe sorted.append(items[entry.pair &* 2 &+ 1])
        }
        unsafe items.baseAddress?.update(from: sorted.elements.baseAddress!, count: sorted.count)
        return sorted.count / 2
    }

    /// Integers below strings; strings by their first bytes.
    @inline(__always)
    private static func rank(of key: Item, _ written: UnsafeRawBufferPointer) -> UInt64 {
        if key.isPointer {
            return unsafe 1 << 63 | ByteOrder.prefix(FleeceOutput.text(at: key.position, in: written)) >> 1
        }
        if key.header.tag == .string {
            return 1 << 63 | UInt64(key.header.bits & 0xFF) << 55
        }
        return UInt64(key.header.bits)
    }

    @inline(__always)
    private static func order(
        _ left: Entry, _ right: Entry, _ items: UnsafeMutableBufferPointer<Item>,
        _ written: UnsafeRawBufferPointer
    ) -> Int {
        if left.rank != right.rank { return left.rank < right.rank ? -1 : 1 }
        return unsafe orderOfEqualRanks(items[left.pair &* 2], items[right.pair &* 2], written)
    }

    private static func orderOfEqualRanks(_ left: Item, _ right: Item, _ written: UnsafeRawBufferPointer)
        -> Int
    {
        guard left.isPointer || right.isPointer else {
            // Equal integers; or strings of no or one byte, of which the empty one comes before U+0000.
            return Int(left.header.bits) - Int(right.header.bits)
        }
        if left.isPointer && right.isPointer && left.position == right.position { return 0 }
        return unsafe withText(of: left, written) { left in
            unsafe withText(of: right, written) { right in unsafe ByteOrder.compare(left, right) }
        }
    }

    private static func withText<R>(
        of key: Item, _ written: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        if key.isPointer { return unsafe body(FleeceOutput.text(at: key.position, in: written)) }
        let byte = UInt8(truncatingIfNeeded: key.header.bits)
        let length = Int(key.header.bits >> 8 & 0x0F)
        return unsafe withUnsafeBytes(of: byte) {
            unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<length]))
        }
    }
}
