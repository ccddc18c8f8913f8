import Fleece
import RoostBytes

/// Reads keys that a ``KeyEncoder`` of the same collation wrote, component by component. The bytes may be damaged.
package struct KeyReader {
    /// What a component is.
    package enum Kind: Hashable, Sendable {
        case missing, null, `false`, `true`, number, text, array, object, data
        /// The end of the array or object that the reader is in.
        case end
    }

    private let bytes: ByteView
    private let collation: Collation
    /// Where the next component begins.
    package private(set) var position: Int
    /// FF for a column that was complemented, 00 otherwise.
    private let mask: UInt8

    /// Reads `bytes` from `position` on, up to a change of direction.
    package init(
        _ bytes: ByteView, _ collation: Collation, from position: Int = 0, isDescending: Bool = false
    ) {
        self.bytes = bytes
        self.collation = collation
        self.position = position
        mask = isDescending ? 0xFF : 0
    }

    package var isAtEnd: Bool { position >= bytes.count }

    /// What comes next.
    package func peek() throws(MalformedBytes) -> Kind {
        let (tag, tags) = (try byte(at: position), collation.tags)
        return switch tag {
        case KeyTags.end: .end
        case KeyTags.missing: .missing
        case tags.null: .null
        case tags.false: .false
        case tags.true: .true
        case tags.negative, tags.positive: .number
        case tags.text: .text
        case tags.array: .array
        case tags.object: .object
        case KeyTags.data: .data
        default: throw MalformedBytes(at: position)
        }
    }

    /// Steps over a component, whatever it holds.
    package mutating func skip() throws(MalformedBytes) {
        var depth = 0
        repeat {
            let kind = try peek()
            switch kind {
            case .missing, .null, .false, .true: position += 1
            case .number: _ = try readNumber()
            case .text, .data: try skipText()
            case .array, .object: try enter(&depth)
            case .end:
                guard depth > 0 else { throw MalformedBytes(at: position) }
                depth -= 1
                position += 1
            }
        } while depth > 0
    }

    /// Steps into an array or object.
    package mutating func enter() throws(MalformedBytes) {
        guard [.array, .object].contains(try peek()) else { throw MalformedBytes(at: position) }
        position += 1
    }

    private mutating func enter(_ depth: inout Int) throws(MalformedBytes) {
        depth += 1
        position += 1
    }

    /// Writes the next component as a value, and steps over it. Whole numbers become integers, as a key does not tell 1 from
    /// 1.0.
    ///
    /// - Returns: Whether the key has the value. In Unicode's order and without case, texts can't be had back; then what was
    ///   written is of no use, and the reader has to be thrown away.
    package mutating func readValue(into writer: inout FleeceWriter) throws(MalformedBytes) -> Bool {
        switch try peek() {
        case .missing: writer.writeUndefined()
        case .null: writer.writeNull()
        case .false: writer.write(false)
        case .true: writer.write(true)
        case .number:
            Self.write(try readNumber(), to: &writer)
            return true
        case .text:
            guard collation.texts == .bytes, let text = String(validating: try readEscaped(), as: UTF8.self)
            else { return false }
            writer.write(text)
            return true
        case .data:
            writer.write(data: try readEscaped())
            return true
        case .array: return try readArray(into: &writer)
        case .object: return try readObject(into: &writer)
        case .end: throw MalformedBytes(at: position)
        }
        position += 1
        return true
    }

    /// A component that is no collection.
    package enum Scalar: Hashable, Sendable {
        case missing, null, bool(Bool)
        /// Whether it is negative, and its magnitude; a key does not tell 1 from 1.0.
        case whole(isNegative: Bool, UInt64)
        case double(Double)
        /// UTF-8.
        case text([UInt8])
        case data([UInt8])
    }

    /// The next component, which is stepped over; `nil` for a collection, and for a text in an order out of which it can't be
    /// had back, which is not.
    package mutating func readScalar() throws(MalformedBytes) -> Scalar? {
        let kind = try peek()
        switch kind {
        case .array, .object: return nil
        case .text where collation.texts != .bytes: return nil
        case .text: return .text(try readEscaped())
        case .data: return .data(try readEscaped())
        case .number:
            let number = try readNumber()
            guard let whole = number.whole, !number.isNegative || whole <= Int64.min.magnitude else {
                return .double(number.double)
            }
            return .whole(isNegative: number.isNegative, whole)
        case .end: throw MalformedBytes(at: position)
        case .missing, .null, .false, .true:
            position += 1
            return kind == .missing ? .missing : kind == .null ? .null : .bool(kind == .true)
        }
    }

    private mutating func readArray(into writer: inout FleeceWriter) throws(MalformedBytes) -> Bool {
        position += 1
        writer.beginArray()
        while try peek() != .end {
            guard try descend({ (reader) throws(MalformedBytes) in try reader.readValue(into: &writer) })
            else {
                return false
            }
        }
        position += 1
        writer.endArray()
        return true
    }

    private mutating func readObject(into writer: inout FleeceWriter) throws(MalformedBytes) -> Bool {
        position += 1
        writer.beginDictionary()
        while try peek() != .end {
            guard collation.texts == .bytes, try peek() == .text,
                let name = String(validating: try readEscaped(), as: UTF8.self)
            else { return false }
            writer.key(name)
            guard try descend({ (reader) throws(MalformedBytes) in try reader.readValue(into: &writer) })
            else {
                return false
            }
        }
        position += 1
        writer.endDictionary()
        return true
    }

    /// How many collections the reader is in.
    private var depth = 0

    private mutating func descend(_ body: (inout Self) throws(MalformedBytes) -> Bool) throws(MalformedBytes)
        -> Bool
    {
        guard depth < FleeceLimits.maximumDepth else { throw MalformedBytes(at: position) }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private static func write(_ number: OrderedNumber, to writer: inout FleeceWriter) {
        guard let whole = number.whole else { return writer.write(number.double) }
        if !number.isNegative {
            writer.write(whole)
        } else if whole <= Int64.min.magnitude {
            writer.write(Int64(truncatingIfNeeded: 0 &- whole))
        } else {
            writer.write(number.double)
        }
    }

    // MARK: Bytes

    private func byte(at offset: Int) throws(MalformedBytes) -> UInt8 {
        guard offset < bytes.count else { throw MalformedBytes(at: offset) }
        return bytes[offset] ^ mask
    }

    private mutating func readNumber() throws(MalformedBytes) -> OrderedNumber {
        let start = position
        let isNegative = try byte(at: position) == collation.tags.negative
        let inversion: UInt8 = isNegative ? 0xFF : 0
        var magnitude: UInt128 = 0
        var shift = 128
        while true {
            position += 1
            shift -= 7
            guard shift >= 128 - 77 else { throw MalformedBytes(at: start) }
            let group = try byte(at: position) ^ inversion
            magnitude |= UInt128(group >> 1) << UInt128(shift)
            if group & 1 == 0 { break }
        }
        position += 1
        guard magnitude & (UInt128(1) << 54 - 1) == 0,
            let number = OrderedNumber(isNegative: isNegative, magnitude: magnitude >> 54)
        else { throw MalformedBytes(at: start) }
        return number
    }

    private mutating func skipText() throws(MalformedBytes) {
        repeat { position += 1 } while try byte(at: position) != KeyTags.end
        position += 1
    }

    private mutating func readEscaped() throws(MalformedBytes) -> [UInt8] {
        var result: [UInt8] = []
        position += 1
        while true {
            var next = try byte(at: position)
            position += 1
            if next == KeyTags.end { return result }
            if next == 1 {
                next = try byte(at: position) &- 1
                position += 1
                guard next <= 1 else { throw MalformedBytes(at: position) }
            }
            result.append(next)
        }
    }
}
