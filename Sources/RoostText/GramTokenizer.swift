import RoostBytes

/// Takes texts apart into all runs of three characters, and the last two, by which parts of texts are found.
///
/// Each character is compared by itself: without its marks, and without regard to case and width. So the characters of a part of
/// a text are part of the characters of the text, however the part is compared with it.
package struct GramTokenizer: Tokenizer {
    /// How many characters stand together.
    package static let length = 3

    package init() {}

    package var version: String { "grams \(WordData.version).1" }

    package func words(of text: String, into words: inout WordList) {
        let scalars = Self.characters(of: text.unicodeScalars)
        for start in 0..<max(scalars.count - Self.length + 1, 0) {
            append(scalars[start..<start + Self.length], to: &words)
        }
        if scalars.count >= Self.length - 1 { append(scalars.suffix(Self.length - 1), to: &words) }
    }

    private func append(_ scalars: ArraySlice<UInt32>, to words: inout WordList) {
        let place = words.bytes.count
        for scalar in scalars { appendUTF8(scalar, to: &words.bytes) }
        words.finish(place, 0..<0)
    }

    /// The characters as they are compared.
    package static func characters(of text: some Sequence<Unicode.Scalar>) -> [UInt32] {
        var result: [UInt32] = []
        result.reserveCapacity(text.underestimatedCount)
        for scalar in text { append(scalar.value, to: &result) }
        return result
    }

    private static func append(_ scalar: UInt32, to result: inout [UInt32]) {
        switch scalar {
        case 0..<0x20, 0x7F: result.append(0x20)
        case UInt32(UInt8(ascii: "A"))...UInt32(UInt8(ascii: "Z")): result.append(scalar | 0x20)
        case ..<0x80: result.append(scalar)
        default:
            let table = CharacterTable.shared
            var parts = [scalar]
            table.decompose(&parts)
            for part in parts where !table.isMark(part) {
                guard var folded = table.folding(part) else {
                    result.append(part)
                    continue
                }
                table.decompose(&folded)
                for scalar in folded where !table.isMark(scalar) { result.append(scalar) }
            }
        }
    }
}

extension CharacterTable {
    /// Whether the character belongs to the one before, or is not seen.
    fileprivate func isMark(_ scalar: UInt32) -> Bool {
        combiningClass(scalar) != 0 || characterClass(scalar).wordBreak.isIgnored
    }
}
