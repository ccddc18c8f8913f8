import RoostBytes

/// Writes the sort keys of texts: bytes that compare as the texts do.
///
/// A key has the primary weights, then 01 and the secondary ones, then 01 and the tertiary ones. Common weights at the end
/// of a level are left out, and so are levels at the end that have nothing, so that plain lower-case text takes a byte a
/// letter. No byte is 00. Keeps its memory; belongs to one thread.
struct SortKeyMaker {
    private let order: UnicodeOrder
    private let table: CollationTable
    private var walk: ElementWalk?
    private var secondaries: [UInt8] = []
    private var tertiaries: [UInt8] = []

    private static let separator: UInt8 = 0x01

    init(_ order: UnicodeOrder) {
        self.order = order
        table = .table(order.tailoring)
    }

    /// Appends the key of a text, given in UTF-8; ill-formed parts count as U+FFFD.
    mutating func append(_ text: ByteView, to key: ByteBuffer) {
        secondaries.removeAll(keepingCapacity: true)
        tertiaries.removeAll(keepingCapacity: true)
        if text.isASCII && table.leavesASCII {
            appendASCII(text, to: key)
        } else {
            appendText(text, to: key)
        }
        if !order.ignoresAccents || !order.ignoresCase { appendLevels(to: key) }
    }

    private mutating func appendASCII(_ text: ByteView, to key: ByteBuffer) {
        key.reserve(text.count * 2)
        let table = ASCIIWeights.shared
        var count = 0
        for index in 0..<text.count {
            let weight = table.weights[Int(text[index])]
            guard weight.primary != 0 else { continue }
            Self.append(weight.primary, to: key)
            if !order.ignoresCase {
                let third = order.ignoresAccents ? weight.letterCase : weight.tertiary
                if third != CollationElement.common {
                    while tertiaries.count < count { tertiaries.append(CollationElement.common) }
                    tertiaries.append(third)
                }
                count += 1
            }
        }
    }

    private mutating func appendText(_ text: ByteView, to key: ByteBuffer) {
        let text = unsafe String(decoding: text.buffer, as: UTF8.self)
        let order = order
        var secondaries = Level(secondaries)
        var tertiaries = Level(tertiaries)
        var mayBeLight = false
        let isUpperFirst = table.isUpperFirst
        var walk = self.walk ?? ElementWalk(table)
        walk.elements(of: text) { element in
            if element.primary != 0 {
                Self.append(element.primary, to: key)
                if element.mayBeLight { mayBeLight = true }
            }
            if !order.ignoresAccents, element.secondary != 0 { secondaries.append(element.secondary) }
            guard !order.ignoresCase, element.tertiary != 0 else { return }
            if !order.ignoresAccents {
                tertiaries.append(isUpperFirst ? element.upperFirstTertiary : element.tertiary)
            } else if element.primary != 0 {
                tertiaries.append(isUpperFirst ? element.upperFirstCase : element.letterCase)
            }
        }
        self.walk = walk
        secondaries.trim()
        // Where a weight below the common one may follow, common ones at the end would not compare as nothing does.
        if !mayBeLight, !isUpperFirst { tertiaries.trim() }
        (self.secondaries, self.tertiaries) = (secondaries.bytes, tertiaries.bytes)
    }

    private func appendLevels(to key: ByteBuffer) {
        if !secondaries.isEmpty || !tertiaries.isEmpty, !order.ignoresAccents {
            key.append(Self.separator)
            key.append(secondaries)
        }
        if !tertiaries.isEmpty {
            key.append(Self.separator)
            key.append(tertiaries)
        }
    }

    private static func append(_ primary: UInt32, to key: ByteBuffer) {
        var rest = primary
        while rest != 0 {
            key.append(UInt8(rest >> 24))
            rest <<= 8
        }
    }
}

/// The weights of one level.
private struct Level {
    private(set) var bytes: [UInt8]
    /// How many bytes there are up to the last weight that is not the common one.
    private var keptCount = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func append(_ weight: UInt8) {
        bytes.append(weight)
        if weight != CollationElement.common { keptCount = bytes.count }
    }

    mutating func append(_ weight: UInt16) {
        guard weight & 0xFF != 0 else { return append(UInt8(weight >> 8)) }
        bytes.append(UInt8(weight >> 8))
        bytes.append(UInt8(weight & 0xFF))
        keptCount = bytes.count
    }

    /// Leaves common weights at the end out.
    mutating func trim() { bytes.removeLast(bytes.count - keptCount) }
}

/// The elements of ASCII's characters, which have one each and take part in no contraction among themselves.
struct ASCIIWeights: Sendable {
    let weights: [CollationElement]

    static let shared = ASCIIWeights()

    private init() {
        let table = CollationTable.root
        weights = (0..<128).map { scalar in
            table.run(table.places[scalar]).map { table.elements[$0.start] } ?? table.implicitElement(scalar)
        }
    }
}

// MARK: - ElementWalk

/// Finds the collation elements of a text: the matching of UTS #10, section 7, step 2.
struct ElementWalk {
    private let table: CollationTable
    private var scalars: [UInt32] = []

    /// Stands in the place of a mark that a contraction has taken.
    private static let taken = UInt32.max
    /// How many marks after a character can belong to a contraction with it; no text for people has more (UAX #15,
    /// Stream-Safe Text Format).
    private static let longestRun = 32

    init(_ table: CollationTable) { self.table = table }

    /// Calls `body` with each element of `text` in turn.
    mutating func elements(of text: String, _ body: (CollationElement) -> Void) {
        table.normalization.decompose(text.unicodeScalars, into: &scalars)
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            guard scalar != Self.taken else { continue }
            let place = table.places[scalar]
            if place >> 31 == 1, let run = contraction(from: scalar, at: &index) {
                visit(run, body)
            } else if let run = table.run(place) {
                visit(run, body)
            } else {
                body(table.implicitElement(scalar))
            }
        }
    }

    private func visit(_ run: CollationTable.Run, _ body: (CollationElement) -> Void) {
        for index in run.start..<run.start + run.count { body(table.elements[index]) }
    }

    /// The longest contraction of `first` with the scalars from `index`, first with those that follow at once, then with
    /// marks that no other mark of their class keeps apart from it. What it takes is stepped over or marked as taken.
    private mutating func contraction(from first: UInt32, at index: inout Int) -> CollationTable.Run? {
        guard let candidates = table.contractions[first] else { return nil }
        var found = candidates.first { scalars[index...].starts(with: $0.rest) }
        index += found?.rest.count ?? 0
        var matched = found?.rest ?? []
        var lastClass: UInt32 = 0
        for next in index..<min(index + Self.longestRun, scalars.count) where scalars[next] != Self.taken {
            let combiningClass = table.normalization.combiningClass(scalars[next])
            guard combiningClass > 0 else { break }
            let isBlocked = lastClass >= combiningClass
            if !isBlocked, let longer = candidates.first(where: { $0.rest == matched + [scalars[next]] }) {
                found = longer
                matched = longer.rest
                scalars[next] = Self.taken
            } else {
                lastClass = combiningClass
            }
        }
        return found?.elements
    }
}

// MARK: - Normalization

/// Canonical decomposition (Normalization Form D of UAX #15), so that equivalent texts compare equal.
struct Normalization: Sendable {
    /// By scalar: its combining class in the low 8 bits; above them, one more than the place of its decomposition.
    private let table: PagedTable
    private let decompositions: [[UInt32]]

    init(_ reader: inout CollationDataReader) {
        var table = PagedTable()
        let scalars = reader.readAscending()
        decompositions = scalars.map { _ in (0..<reader.number()).map { _ in reader.number() } }
        for (index, scalar) in scalars.enumerated() { table[scalar] = UInt32(index + 1) << 8 }
        var end: UInt32 = 0
        for _ in 0..<reader.number() {
            let first = end + reader.number()
            end = first + reader.number()
            let combiningClass = reader.number()
            for scalar in first..<end { table[scalar] |= combiningClass }
        }
        self.table = table
    }

    /// The canonical combining class; 0 for a starter.
    func combiningClass(_ scalar: UInt32) -> UInt32 { table[scalar] & 0xFF }

    /// Replaces `scalars` by the decomposed form of `text`. O(n log n).
    func decompose(_ text: String.UnicodeScalarView, into scalars: inout [UInt32]) {
        scalars.removeAll(keepingCapacity: true)
        for scalar in text {
            let value = scalar.value
            let place = Int(table[value] >> 8)
            if place > 0 {
                scalars.append(contentsOf: decompositions[place - 1])
            } else if 0xAC00...0xD7A3 ~= value {
                Self.decomposeSyllable(value, into: &scalars)
            } else {
                scalars.append(value)
            }
        }
        sortMarks(&scalars)
    }

    /// Marks in a row stand in the order of their classes; marks of one class keep theirs.
    private func sortMarks(_ scalars: inout [UInt32]) {
        var index = 0
        while index < scalars.count {
            let start = index
            var lastClass: UInt32 = 0
            var isSorted = true
            while index < scalars.count {
                let combiningClass = combiningClass(scalars[index])
                guard combiningClass > 0 else { break }
                if combiningClass < lastClass { isSorted = false }
                lastClass = combiningClass
                index += 1
            }
            if !isSorted {
                let marks = scalars[start..<index].enumerated().sorted { a, b in
                    (combiningClass(a.element), a.offset) < (combiningClass(b.element), b.offset)
                }
                scalars.replaceSubrange(start..<index, with: marks.map(\.element))
            }
            index += 1
        }
    }

    /// Hangul syllables follow from arithmetic (The Unicode Standard, section 3.12).
    private static func decomposeSyllable(_ syllable: UInt32, into scalars: inout [UInt32]) {
        let index = syllable - 0xAC00
        scalars.append(0x1100 + index / (21 * 28))
        scalars.append(0x1161 + index / 28 % 21)
        if index % 28 > 0 { scalars.append(0x11A7 + index % 28) }
    }
}
