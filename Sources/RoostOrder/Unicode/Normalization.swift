import RoostBytes

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
