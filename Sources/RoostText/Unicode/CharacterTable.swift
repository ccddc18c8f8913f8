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
