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
