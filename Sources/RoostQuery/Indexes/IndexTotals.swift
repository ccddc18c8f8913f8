import Fleece
import RoostBytes
import RoostIndex
import RoostOrder

/// What is known of the values of some rows in one place: how many there are, their sum, the least and the greatest.
///
/// Kept in the branch nodes of an index, for each place that is summed:
///
///     valued      varint    how many are neither null nor missing
///     whole       varint    how many of these are whole numbers that fit in 64 bits
///     numbers     varint    how many are numbers
///     sum         16 bytes  of the whole ones
///     rest        8 bytes   the sum of the others, as the bits of a Double
///     least, greatest       each 00 where there is no number, 01 and 8 bytes of a whole one, 02 and the bits of a Double, or
///                           03 and 8 bytes of a whole one beyond Int64
struct IndexTotals {
    private(set) var valued: UInt64 = 0
    private(set) var numbers = NumberSum()
    private var least = Value.missing
    private var greatest = Value.missing

    init() {}

    fileprivate mutating func add(_ value: Value) {
        let value = value.computable
        guard value.isValued else { return }
        valued += 1
        guard value.double != nil else { return }
        numbers.add(value)
        compare(value)
    }

    private mutating func compare(_ value: Value) {
        guard !value.isMissing else { return }
        if least.isMissing || value.compare(least, .binary) < 0 { least = value }
        if greatest.isMissing || value.compare(greatest, .binary) > 0 { greatest = value }
    }

    private mutating func add(_ other: Self) {
        valued &+= other.valued
        numbers.add(other.numbers)
        compare(other.least)
        compare(other.greatest)
    }

    // MARK: Answers

    /// The least and the greatest value, null of none; `nil` where there are values that are no numbers, too.
    var extremes: (least: Value, greatest: Value)? {
        guard valued == numbers.count else { return nil }
        return valued == 0 ? (.null, .null) : (least, greatest)
    }

    // MARK: Keeping

    /// The reduction that keeps the totals of the values at some places of rows' contents.
    static func reduction(of places: [Int]) -> IndexReduction {
        IndexReduction(name: "totals 2 of \(places.map(String.init).joined(separator: ","))") {
            TotalsReducer(places)
        } combine: { values in
            var totals = places.map { _ in IndexTotals() }
            for value in values {
                for (number, other) in try decode(value.array).enumerated() where number < totals.count {
                    totals[number].add(other)
                }
            }
            return encode(totals)
        }
    }

    fileprivate static func encode(_ totals: [IndexTotals]) -> [UInt8] {
        let buffer = ByteBuffer(capacity: 64 * totals.count)
        for total in totals {
            buffer.append(varint: total.valued)
            buffer.append(varint: total.numbers.whole)
            buffer.append(varint: total.numbers.count)
            buffer.append(integer: UInt64(truncatingIfNeeded: total.numbers.sum))
            buffer.append(integer: UInt64(truncatingIfNeeded: total.numbers.sum >> 64))
            buffer.append(integer: total.numbers.rest.bitPattern)
            for value in [total.least, total.greatest] {
                switch value {
                case .integer(let number):
                    buffer.append(1 as UInt8)
                    buffer.append(integer: UInt64(bitPattern: number))
                case .double(let number):
                    buffer.append(2 as UInt8)
                    buffer.append(integer: number.bitPattern)
                case .unsigned(let number):
                    buffer.append(3 as UInt8)
                    buffer.append(integer: number)
                default: buffer.append(0 as UInt8)
                }
            }
        }
        return buffer.view.array
    }

    /// - Throws: `MalformedBytes` for what ``encode(_:)`` has not made.
    static func decode(_ bytes: [UInt8]) throws(MalformedBytes) -> [IndexTotals] {
        try bytes.withView { (view) throws(MalformedBytes) in
            var reader = ByteReader(view)
            var totals: [IndexTotals] = []
            while !reader.isAtEnd {
                var total = IndexTotals()
                total.valued = try reader.varint()
                total.numbers.whole = try reader.varint()
                total.numbers.count = try reader.varint()
                let low = try reader.integer(UInt64.self)
                let high = try reader.integer(UInt64.self)
                total.numbers.sum = Int128(Int64(bitPattern: high)) << 64 | Int128(low)
                total.numbers.rest = Double(bitPattern: try reader.integer(UInt64.self))
                total.least = try number(&reader)
                total.greatest = try number(&reader)
                totals.append(total)
            }
            return totals
        }
    }

    private static func number(_ reader: inout ByteReader) throws(MalformedBytes) -> Value {
        switch try reader.byte() {
        case 0: return .missing
        case 1: return .integer(Int64(bitPattern: try reader.integer(UInt64.self)))
        case 2: return .double(Double(bitPattern: try reader.integer(UInt64.self)))
        case 3: return .unsigned(try reader.integer(UInt64.self))
        default: throw MalformedBytes(at: reader.position)
        }
    }
}

/// Adds up the values at some places of rows' contents.
private struct TotalsReducer: IndexReducer {
    let readsKeys = false
    private let places: [Int]
    private var totals: [IndexTotals]

    init(_ places: [Int]) {
        self.places = places
        totals = places.map { _ in IndexTotals() }
    }

    mutating func add(_ row: IndexRowView) {
        let content = FleeceNode(root: row.payload)
        for (number, place) in places.enumerated() { totals[number].add(Value(content[place])) }
    }

    func value() -> [UInt8] { IndexTotals.encode(totals) }
}
