import Fleece
import RoostBytes

/// Writes JSON values as keys: bytes that compare as the values do in a collation.
///
/// Each value's key tells where it ends and is no beginning of another one's, so the keys of several columns may follow each
/// other. Values that the collation holds equal have the same key. Not thread-safe; keeps its memory.
///
///     value                 tag       then
///     missing               01
///     null, false, true     10 11 12
///     number below 0        20        the magnitude's groups, each bit inverted
///     number                21        the magnitude's groups
///     string                30        UTF-8, or the sort key; 00
///     array                 40        the elements; 00
///     object                50        name, value, name, value …; 00
///     data                  60        the bytes; 00
///
/// Raw collation has other tags, in its order of kinds. In UTF-8 and in data, 00 is 01 01 and 01 is 01 02; sort keys have
/// no 00. A magnitude of 74 bits (``OrderedNumber``) is cut into groups of seven from its highest bit, groups of zeros at
/// the end left out; each is a byte with the lowest bit set when another one follows.
package final class KeyEncoder {
    /// The order of the keys.
    package let collation: Collation
    let buffer = ByteBuffer()
    let tags: KeyTags
    private var sortKeys: SortKeyMaker?

    package init(_ collation: Collation) {
        self.collation = collation
        tags = collation.tags
        if case .unicode(let order) = collation.texts { sortKeys = SortKeyMaker(order) }
    }

    /// What was written; valid until the encoder is used again.
    package var view: ByteView { buffer.view }

    /// What was written.
    package var key: [UInt8] { buffer.view.array }

    /// The bytes written so far.
    package var count: Int { buffer.count }

    /// Begins a new key.
    package func reset() { buffer.reset(keeping: 1 << 16) }

    /// Takes back all but the first `count` bytes.
    package func truncate(to count: Int) { buffer.resize(to: min(count, buffer.count)) }

    // MARK: Parts

    package func appendMissing() { buffer.append(KeyTags.missing) }

    package func appendNull() { buffer.append(tags.null) }

    package func append(_ value: Bool) { buffer.append(value ? tags.true : tags.false) }

    package func append(_ value: Int64) { append(OrderedNumber(value)) }

    package func append(_ value: UInt64) { append(OrderedNumber(value)) }

    /// Appends a number, infinite ones too; what is no number (NaN) counts as null.
    package func append(_ value: Double) {
        if let number = OrderedNumber(value) { append(number) } else { appendNull() }
    }

    package func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append(text: ByteView(UnsafeRawBufferPointer($0))) }
    }

    /// Appends a text, given in UTF-8.
    package func append(text: ByteView) {
        buffer.append(tags.text)
        switch collation.texts {
        case .bytes: appendEscaped(text)
        case .caselessASCII: appendEscaped(text) { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        case .unicode: sortKeys?.append(text, to: buffer)
        }
        buffer.append(KeyTags.end)
    }

    package func append(data: ByteView) {
        buffer.append(KeyTags.data)
        appendEscaped(data)
        buffer.append(KeyTags.end)
    }

    /// Begins an array, whose elements follow up to ``endCollection()``.
    package func beginArray() { buffer.append(tags.array) }

    /// Begins an object, whose names and values follow in turn, by the names' bytes, up to ``endCollection()``.
    package func beginObject() { buffer.append(tags.object) }

    package func endCollection() { buffer.append(KeyTags.end) }

    /// Appends bytes that are a key already, or come after one.
    package func append(raw bytes: ByteView) { buffer.append(bytes) }

    /// Inverts what was written from `offset` on, which then orders the other way.
    package func complement(from offset: Int) {
        for index in offset..<max(offset, buffer.count) { buffer.store(~buffer.view[index], at: index) }
    }

    // MARK: Details

    private func append(_ number: OrderedNumber) {
        buffer.append(number.isNegative ? tags.negative : tags.positive)
        let mask: UInt8 = number.isNegative ? 0xFF : 0
        var rest = number.magnitude << (128 - 74)
        repeat {
            let group = UInt8(truncatingIfNeeded: rest >> 121) << 1
            rest <<= 7
            buffer.append((rest == 0 ? group : group | 1) ^ mask)
        } while rest != 0
    }

    private func appendEscaped(_ bytes: ByteView, _ fold: (UInt8) -> UInt8 = { $0 }) {
        buffer.reserve(bytes.count + 1)
        for index in 0..<bytes.count {
            let byte = fold(bytes[index])
            if byte <= 1 { buffer.append(1) }
            buffer.append(byte <= 1 ? byte + 1 : byte)
        }
    }
}

// MARK: - Values

extension KeyEncoder {
    /// Appends a value, whose document has no shared keys; one that is not there as missing.
    ///
    /// - Throws: ``FleeceError`` with `tooDeep` for a value nested deeper than a body may be, as damage leaves it.
    package func append(_ value: FleeceValue) throws(FleeceError) {
        let result = value.withNode { node in
            Result { () throws(FleeceError) in try append(node) }
        }
        if let result { try result.get() } else { appendMissing() }
    }

    /// Appends a value; one that is not there as missing.
    ///
    /// - Throws: as ``append(_:)-(FleeceValue)``.
    package func append(_ node: FleeceNode) throws(FleeceError) {
        guard append(cutting: node) else {
            throw FleeceError(.tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
        }
    }

    /// Appends a value; what is nested deeper in it than a body may be counts as null.
    ///
    /// - Returns: whether nothing is.
    @discardableResult package func append(cutting node: FleeceNode, depth: Int = 0) -> Bool {
        var isWhole = true
        switch node.content {
        case .undefined: appendMissing()
        case .null: appendNull()
        case .bool(let value): append(value)
        case .integer(let number): append(number)
        case .unsigned(let number): append(number)
        case .double(let number): append(number)
        case .string(let text): append(text: text)
        case .data(let bytes): append(data: bytes)
        case .dictionary where node.nearestToDecimal != nil: append(node.nearestToDecimal ?? 0)
        case .array where depth >= FleeceLimits.maximumDepth,
            .dictionary where depth >= FleeceLimits.maximumDepth:
            appendNull()
            return false
        case .array:
            beginArray()
            for index in 0..<node.elementCount {
                guard let element = node[index] else {
                    appendMissing()
                    continue
                }
                if !append(cutting: element, depth: depth + 1) { isWhole = false }
            }
            endCollection()
        case .dictionary:
            beginObject()
            for index in 0..<node.elementCount {
                guard let member = node.member(index) else { continue }
                append(text: member.key)
                if !append(cutting: member.value, depth: depth + 1) { isWhole = false }
            }
            endCollection()
        }
        return isWhole
    }
}

// MARK: - KeyTags

/// The bytes that the keys of values begin with, in the order of the kinds. 00 ends collections and texts, so no tag is 00;
/// FF is greater than any.
struct KeyTags: Sendable {
    let null: UInt8
    let `false`: UInt8
    let `true`: UInt8
    let negative: UInt8
    let positive: UInt8
    let text: UInt8
    let array: UInt8
    let object: UInt8

    /// Only in indexes, where a row stands for every document: no value.
    static let missing: UInt8 = 0x01
    /// Bytes, which are no JSON and come last.
    static let data: UInt8 = 0x60
    /// Ends a collection or a text.
    static let end: UInt8 = 0x00

    static let json = KeyTags(
        null: 0x10, false: 0x11, true: 0x12, negative: 0x20, positive: 0x21, text: 0x30, array: 0x40,
        object: 0x50)
    static let raw = KeyTags(
        null: 0x21, false: 0x20, true: 0x22, negative: 0x10, positive: 0x11, text: 0x50, array: 0x40,
        object: 0x30)
}

// MARK: - OrderedNumber

/// A number in the form that keys have it in, which holds every Int64, UInt64 and Double exactly.
///
/// The magnitude is 74 bits: the eleven of a Double's biased exponent, then 63 of the fraction after the leading one. So
/// magnitudes compare as integers do.
struct OrderedNumber: Hashable {
    /// Never set for zero.
    let isNegative: Bool
    let magnitude: UInt128

    private static let fractionBits = 63

    init(_ value: Int64) { self.init(isNegative: value < 0, value.magnitude) }

    init(_ value: UInt64) { self.init(isNegative: false, value) }

    private init(isNegative: Bool, _ magnitude: UInt64) {
        guard magnitude != 0 else {
            self.isNegative = false
            self.magnitude = 0
            return
        }
        let shift = magnitude.leadingZeroBitCount
        let exponent = UInt128(1023 + 63 - shift)
        let fraction = (magnitude << UInt64(shift)) & (UInt64(1) << 63 - 1)
        self.isNegative = isNegative
        self.magnitude = exponent << UInt128(Self.fractionBits) | UInt128(fraction)
    }

    /// The number; `nil` for one that is none (NaN).
    init?(_ value: Double) {
        guard !value.isNaN else { return nil }
        let bits = value.magnitude.bitPattern
        isNegative = value < 0
        magnitude = UInt128(bits) << UInt128(Self.fractionBits - 52)
    }

    /// A number from a key; `nil` for a magnitude that no number has.
    init?(isNegative: Bool, magnitude: UInt128) {
        guard magnitude >> 74 == 0, !isNegative || magnitude != 0 else { return nil }
        self.isNegative = isNegative
        self.magnitude = magnitude
        guard whole != nil || magnitude & 0x7FF == 0 else { return nil }
    }

    /// The number if it is whole and below 2⁶⁴: whether it is negative, and its magnitude.
    var whole: UInt64? {
        if magnitude == 0 { return 0 }
        let exponent = Int(magnitude >> UInt128(Self.fractionBits)) - 1023
        guard 0...63 ~= exponent else { return nil }
        let significand = UInt64(truncatingIfNeeded: magnitude) | UInt64(1) << 63
        let shift = UInt64(63 - exponent)
        let whole = significand >> shift
        return whole << shift == significand ? whole : nil
    }

    /// The number as a Double: exact unless it is a whole number beyond 2⁵³.
    var double: Double {
        if magnitude & 0x7FF != 0, let whole { return isNegative ? -Double(whole) : Double(whole) }
        let value = Double(bitPattern: UInt64(truncatingIfNeeded: magnitude >> 11))
        return isNegative ? -value : value
    }
}

extension OrderedNumber: Comparable {
    static func < (a: Self, b: Self) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? b.magnitude < a.magnitude : a.magnitude < b.magnitude
    }
}
