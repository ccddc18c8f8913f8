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
