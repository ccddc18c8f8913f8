import CRoostZlib
import RoostBytes
import Synchronization

/// Where each character stands in CLDR's root collation, and how it decomposes.
///
/// Made once, from ``CollationData`` and for a language from ``TailoringData``, when text beyond ASCII or any key in Unicode's order is first asked for; takes some
/// 700 KB. Immutable, so any thread may read it.
final class CollationTable: Sendable {
    /// A run of elements that belong together.
    struct Run: Sendable {
        let start: Int
        let count: Int
    }

    /// Several characters that count as one.
    struct Contraction: Sendable {
        /// The characters after the first.
        let rest: [UInt32]
        let elements: Run
    }

    let elements: [CollationElement]
    /// By scalar: the place of its elements in ``elements``, 24 bits, and above them their number; bit 31 where
    /// contractions begin.
    let places: PagedTable
    /// By first scalar, the longest first.
    let contractions: [UInt32: [Contraction]]
    let normalization: Normalization
    private let ideographs: [ClosedRange<UInt32>]
    /// Whether texts of ASCII alone have the root's elements.
    let leavesASCII: Bool
    /// Whether capitals come first where nothing else differs.
    let isUpperFirst: Bool

    /// CLDR's root collation, the order of all languages that have no rules of their own.
    static let root = CollationTable()

    private init() {
        var reader = CollationDataReader()
        let weights = reader.readWeights()
        let scalars = reader.readAscending()
        let singles = reader.readRuns(scalars.count, weights)
        var elements = singles.elements
        var places = PagedTable()
        for (scalar, run) in zip(scalars, singles.runs) {
            places[scalar] = UInt32(run.start) | UInt32(run.count) << 24
        }
        let keys = reader.readSequences()
        let several = reader.readRuns(keys.count, weights, after: elements.count)
        elements += several.elements
        var contractions: [UInt32: [Contraction]] = [:]
        for (key, run) in zip(keys, several.runs) {
            contractions[key[0], default: []].append(Contraction(rest: Array(key[1...]), elements: run))
            places[key[0]] |= UInt32(1) << 31
        }
        self.elements = elements
        self.places = places
        self.contractions = contractions.mapValues { $0.sorted { $0.rest.count > $1.rest.count } }
        ideographs = reader.readRanges()
        normalization = Normalization(&reader)
        leavesASCII = true
        isUpperFirst = false
    }

    /// The tables of languages that were asked for.
    private static let tailored = Mutex<[Tailoring: CollationTable]>([:])

    /// The table of a language, the root's for none. Made when it is first asked for; then it takes some 700 KB, too.
    static func table(_ tailoring: Tailoring?) -> CollationTable {
        guard let tailoring else { return root }
        return tailored.withLock { tables in
            if let table = tables[tailoring] { return table }
            let table = Tailoring.rules[tailoring].map { CollationTable(root, $0) } ?? root
            tables[tailoring] = table
            return table
        }
    }

    /// The root's table with other elements for some texts.
    private init(_ root: CollationTable, _ rules: Tailoring.Rules) {
        var (elements, places, contractions) = (root.elements, root.places, root.contractions)
        for rule in rules.elements {
            let run = Run(start: elements.count, count: rule.elements.count)
            elements += rule.elements
            let (first, rest) = (rule.scalars[0], Array(rule.scalars[1...]))
            if rest.isEmpty {
                places[first] = places[first] & 1 << 31 | UInt32(run.start) | UInt32(run.count) << 24
            } else {
                contractions[first, default: []].removeAll { $0.rest == rest }
                contractions[first, default: []].append(Contraction(rest: rest, elements: run))
                places[first] |= UInt32(1) << 31
            }
        }
        self.elements = elements
        self.places = places
        self.contractions = contractions.mapValues { $0.sorted { $0.rest.count > $1.rest.count } }
        normalization = root.normalization
        ideographs = root.ideographs
        leavesASCII = !rules.isUpperFirst && !rules.elements.contains { $0.scalars.allSatisfy { $0 < 0x80 } }
        isUpperFirst = rules.isUpperFirst
    }

    /// The run that `place` of ``places`` stands for; `nil` for a scalar that has none there.
    func run(_ place: UInt32) -> Run? {
        let count = Int(place >> 24 & 0x7F)
        return count == 0 ? nil : Run(start: Int(place & 0xFF_FFFF), count: count)
    }

    /// The element of a scalar without a place: of an ideograph, or one that Unicode 14 has not assigned.
    func implicitElement(_ scalar: UInt32) -> CollationElement {
        var index: UInt32 = 0
        for range in ideographs {
            if range.contains(scalar) {
                return CollationElement(primary: Self.weight(0x81, index + scalar - range.lowerBound) << 8)
            }
            index += UInt32(range.count)
        }
        return CollationElement(primary: 0xE0 << 24 | Self.weight(0x02, scalar))
    }

    /// Three bytes, the first of them `lead` or a little more, that grow with `number`; the others are 02 to FF.
    private static func weight(_ lead: UInt32, _ number: UInt32) -> UInt32 {
        let digits: UInt32 = 254
        return (lead + number / (digits * digits)) << 16 | (2 + number / digits % digits) << 8
            | (2 + number % digits)
    }
}

// MARK: - CollationDataReader

/// Reads what `Scripts/make-collation-data` wrote. The data is a part of the program, so a fault in it is the program's.
struct CollationDataReader {
    private let bytes: [UInt8]
    private var position = 0

    /// The weights that elements refer to by number.
    struct Weights {
        let primaries: [UInt32]
        let others: [(secondary: UInt16, third: UInt8)]
    }

    init(_ deflated: StaticString = CollationData.deflated, length size: Int = CollationData.length) {
        let text = deflated.withUTF8Buffer { unsafe Array($0) }
        guard let packed = Base64.decode(text.filter { $0 != UInt8(ascii: "\n") }) else {
            preconditionFailure("collation data that is no Base64")
        }
        var length = uLongf(size)
        var status = Z_OK
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { target, count in
            unsafe packed.withUnsafeBufferPointer { source in
                status = unsafe uncompress(
                    target.baseAddress, &length, source.baseAddress, uLong(source.count))
            }
            count = Int(length)
        }
        precondition(
            status == Z_OK && bytes.count == size, "collation data of another length")
    }

    /// The next byte.
    mutating func byte() -> UInt8 {
        defer { position += 1 }
        return bytes[position]
    }

    /// The next number.
    mutating func number() -> UInt32 {
        var result: UInt32 = 0
        var shift: UInt32 = 0
        while true {
            let byte = bytes[position]
            position += 1
            result |= UInt32(byte & 0x7F) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
    }

    /// Numbers that grow, kept as distances.
    mutating func readAscending() -> [UInt32] {
        var last: UInt32 = 0
        return (0..<number()).map { _ in
            last += number()
            return last
        }
    }

    mutating func readWeights() -> Weights {
        let primaries = readAscending().map { $0 << 8 }
        let others = (0..<number()).map { _ in
            (secondary: UInt16(number()), third: UInt8(number()))
        }
        return Weights(primaries: primaries, others: others)
    }

    /// `count` runs of elements, to be placed after `offset` others.
    mutating func readRuns(_ count: Int, _ weights: Weights, after offset: Int = 0)
        -> (runs: [CollationTable.Run], elements: [CollationElement])
    {
        var end = 0
        let runs = (0..<count).map { _ in
            let length = Int(number())
            defer { end += length }
            return CollationTable.Run(start: offset + end, count: length)
        }
        var index: UInt32 = 0
        let primaries = (0..<end).map { _ in
            let step = number()
            index = step & 1 == 0 ? index + step >> 1 : index - (step + 1) >> 1
            return weights.primaries[Int(index)]
        }
        let elements = primaries.map { primary in
            let (secondary, third) = weights.others[Int(number())]
            return CollationElement(primary: primary, secondary: secondary, third: third)
        }
        return (runs, elements)
    }

    mutating func readSequences() -> [[UInt32]] {
        (0..<number()).map { _ in (0..<number()).map { _ in number() } }
    }

    mutating func readRanges() -> [ClosedRange<UInt32>] {
        (0..<number()).map { _ in
            let first = number()
            return first...number()
        }
    }
}

// MARK: - CollationElement

/// What a character counts on each level of comparison: a collation element of UTS #10.
///
/// Weights are the fractional ones of CLDR's table: a primary is one to four bytes, none of them 00 or 01 and none the
/// beginning of another, so that weights in a row compare as bytes.
struct CollationElement: Hashable, Sendable, BitwiseCopyable {
    /// Up to four bytes, the first in the highest bits; 0 for a character that counts on later levels only.
    let primary: UInt32
    /// One or two bytes, the first in the higher bits; 0 for none.
    let secondary: UInt16
    /// The tertiary weight in the low six bits, the case in the two above it.
    private let third: UInt8

    /// The weight that most characters have on the second and the third level.
    static let common: UInt8 = 0x05

    init(primary: UInt32, secondary: UInt16 = UInt16(common) << 8, third: UInt8 = common) {
        self.primary = primary
        self.secondary = secondary
        self.third = third
    }

    /// The weight of the third level; 0 for none.
    var tertiary: UInt8 { third & 0x3F }

    /// The weight of the level between the second and the third that only capitals count on: common, mixed, upper.
    var letterCase: UInt8 { Self.common + (third >> 6) }

    /// The weight of the third level where capitals come first: upper, mixed, and the others.
    var upperFirstTertiary: UInt8 { tertiary | (2 - min(third >> 6, 2)) << 6 }

    /// ``letterCase`` where capitals come first.
    var upperFirstCase: UInt8 { Self.common + (2 - min(third >> 6, 2)) }

    /// Whether characters with this primary weight may weigh less than the common weight on the third level, as small kana do.
    var mayBeLight: Bool { primary >> 24 == 0x7A }
}
