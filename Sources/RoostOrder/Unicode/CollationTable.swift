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
