import RoostBytes

/// What finding and folding words needs to know of characters: Unicode 15.
///
/// Made once, from ``WordData``, when a text beyond ASCII is first looked at. Immutable, so any thread may read it.
final class CharacterTable: Sendable {
    /// By scalar: class (8 bits), combining class (8), and above them one more than the place of its folding in ``foldings``.
    private let properties: PagedTable
    private let foldings: [[UInt32]]
    /// By scalar: one more than the place of its decomposition; the high bit for those that are never composed again.
    private let decompositions: PagedTable
    private let parts: [[UInt32]]
    /// By a pair of scalars, the first in the high half: what they compose to.
    private let composites: [UInt64: UInt32]
    private let strokes: [UInt32: [UInt32]]

    static let shared = CharacterTable()

    private init() {
        var reader = WordDataReader()
        var properties = PagedTable()
        reader.forEachRun { scalars, number in for scalar in scalars { properties[scalar] = number } }
        reader.forEachRun { scalars, number in for scalar in scalars { properties[scalar] |= number << 8 } }
        var foldings: [[UInt32]] = []
        reader.forEachMapping { scalar, targets in
            foldings.append(targets)
            properties[scalar] |= UInt32(foldings.count) << 16
        }
        var decompositions = PagedTable()
        var parts: [[UInt32]] = []
        var composites: [UInt64: UInt32] = [:]
        reader.forEachMapping { scalar, targets in
            parts.append(targets)
            decompositions[scalar] = UInt32(parts.count) | 1 << 31
        }
        reader.forEachMapping { scalar, targets in
            parts.append(targets)
            decompositions[scalar] = UInt32(parts.count)
            if targets.count == 2 { composites[UInt64(targets[0]) << 32 | UInt64(targets[1])] = scalar }
        }
        var strokes: [UInt32: [UInt32]] = [:]
        reader.forEachMapping { scalar, targets in strokes[scalar] = targets }
        self.properties = properties
        self.foldings = foldings
        self.decompositions = decompositions
        self.parts = parts
        self.composites = composites
        self.strokes = strokes
    }

    /// What the character is to the words around it.
    func characterClass(_ scalar: UInt32) -> CharacterClass {
        CharacterClass(bits: UInt8(truncatingIfNeeded: properties[scalar]))
    }

    /// The canonical combining class; 0 for a starter.
    func combiningClass(_ scalar: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: properties[scalar] >> 8) }

    /// Full case folding, and the usual form of a wide or narrow character; `nil` for a character that stays.
    func folding(_ scalar: UInt32) -> [UInt32]? {
        let place = properties[scalar] >> 16
        return place == 0 ? nil : foldings[Int(place - 1)]
    }

    /// The canonical decomposition by one step.
    func decomposition(_ scalar: UInt32) -> [UInt32]? {
        let place = decompositions[scalar] & 0x7FFF_FFFF
        return place == 0 ? nil : parts[Int(place - 1)]
    }

    /// Whether the character stays as it is in Normalization Form C when no mark follows.
    func isComposed(_ scalar: UInt32) -> Bool {
        combiningClass(scalar) == 0 && decompositions[scalar] >> 31 == 0 && !(0x1160...0x11FF ~= scalar)
    }

    /// The character that stands for two; `nil` if there is none.
    func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        composites[UInt64(first) << 32 | UInt64(second)]
    }

    /// What is typed for a letter that has no decomposition: `o` for `ø`.
    func withoutStroke(_ scalar: UInt32) -> [UInt32]? { strokes[scalar] }
}

/// Reads what `Scripts/make-word-data` wrote. The data is a part of the program, so a fault in it is the program's.
private struct WordDataReader {
    private let bytes: [UInt8]
    private var position = 0

    init() {
        let text = WordData.encoded.withUTF8Buffer { unsafe Array($0) }
        guard let bytes = Base64.decode(text.filter { $0 != UInt8(ascii: "\n") }) else {
            preconditionFailure("word data that is no Base64")
        }
        self.bytes = bytes
    }

    private mutating func number() -> UInt32 {
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

    mutating func forEachRun(_ body: (Range<UInt32>, UInt32) -> Void) {
        var end: UInt32 = 0
        for _ in 0..<number() {
            let first = end + number()
            end = first + number()
            body(first..<end, number())
        }
    }

    mutating func forEachMapping(_ body: (UInt32, [UInt32]) -> Void) {
        var last: UInt32 = 0
        for _ in 0..<number() {
            last += number()
            let targets = (0..<number()).map { _ in
                let step = number()
                return step & 1 == 0 ? last + step >> 1 : last - (step + 1) >> 1
            }
            body(last, targets)
        }
    }
}

// MARK: - Normalization

/// Canonical decomposition and composition (UAX #15), and letters without their accents.
extension CharacterTable {
    /// Brings the scalars into Normalization Form C. O(n log n).
    func compose(_ scalars: inout [UInt32]) {
        decompose(&scalars)
        var result: [UInt32] = []
        var starter: Int?
        var lastClass: UInt8 = 0
        for scalar in scalars {
            let combiningClass = combiningClass(scalar)
            if let place = starter, lastClass < combiningClass || lastClass == 0,
                result.count == place + 1 || lastClass != 0,
                let composite = composite(result[place], scalar) ?? Hangul.composite(result[place], scalar)
            {
                result[place] = composite
                continue
            }
            if combiningClass == 0 { starter = result.count }
            lastClass = combiningClass
            result.append(scalar)
        }
        scalars = result
    }

    /// Brings the scalars into Normalization Form D. O(n log n).
    func decompose(_ scalars: inout [UInt32]) {
        var result: [UInt32] = []
        result.reserveCapacity(scalars.count * 2)
        for scalar in scalars { append(scalar, to: &result) }
        sortMarks(&result)
        scalars = result
    }

    private func append(_ scalar: UInt32, to result: inout [UInt32]) {
        if let parts = decomposition(scalar) {
            for part in parts { append(part, to: &result) }
        } else {
            Hangul.append(scalar, to: &result)
        }
    }

    /// Marks in a row stand in the order of their classes; marks of one class keep theirs.
    private func sortMarks(_ scalars: inout [UInt32]) {
        var start = 0
        while start < scalars.count {
            guard combiningClass(scalars[start]) > 0 else {
                start += 1
                continue
            }
            let end = scalars[start...].firstIndex { combiningClass($0) == 0 } ?? scalars.count
            let marks = scalars[start..<end].enumerated().sorted { a, b in
                (combiningClass(a.element), a.offset) < (combiningClass(b.element), b.offset)
            }
            scalars.replaceSubrange(start..<end, with: marks.map(\.element))
            start = end
        }
    }

    /// Takes accents away: marks above, below and through letters, vowel points of Arabic and Hebrew, strokes. Marks that
    /// make other letters of Japanese and Indic ones, and vowels of Thai, stay.
    func removeAccents(_ scalars: inout [UInt32]) {
        decompose(&scalars)
        scalars = scalars.filter { !isAccent($0) }.flatMap { withoutStroke($0) ?? [$0] }
        compose(&scalars)
    }

    private func isAccent(_ scalar: UInt32) -> Bool {
        switch combiningClass(scalar) {
        case 1, 10...36, 202...240: true
        default: false
        }
    }
}

/// Hangul syllables follow from arithmetic (The Unicode Standard, section 3.12).
enum Hangul {
    private static let syllables: ClosedRange<UInt32> = 0xAC00...0xD7A3
    private static let (leads, vowels, trails): (UInt32, UInt32, UInt32) = (0x1100, 0x1161, 0x11A7)
    private static let (leadCount, vowelCount, trailCount): (UInt32, UInt32, UInt32) = (19, 21, 28)

    /// Appends the letters of a syllable, or the scalar that is none.
    static func append(_ scalar: UInt32, to result: inout [UInt32]) {
        guard syllables ~= scalar else { return result.append(scalar) }
        let index = scalar - syllables.lowerBound
        result.append(leads + index / (vowelCount * trailCount))
        result.append(vowels + index / trailCount % vowelCount)
        if index % trailCount > 0 { result.append(trails + index % trailCount) }
    }

    static func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if leads..<leads + leadCount ~= first, vowels..<vowels + vowelCount ~= second {
            return syllables.lowerBound + ((first - leads) * vowelCount + (second - vowels)) * trailCount
        }
        if syllables ~= first, (first - syllables.lowerBound) % trailCount == 0,
            trails + 1..<trails + trailCount ~= second
        {
            return first + second - trails
        }
        return nil
    }
}
