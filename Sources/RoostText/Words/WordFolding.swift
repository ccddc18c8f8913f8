import RoostBytes

/// Brings words into one form: case, width and order of marks no longer tell them apart.
struct WordFolding: Sendable {
    /// Whether capital I is the dotless letter's, and capital İ that of i.
    let isTurkic: Bool

    init(language: TextLanguage?) { isTurkic = language == .turkish }

    /// Appends the folded form of a word, given in UTF-8.
    func append(_ word: ByteView, to bytes: inout [UInt8]) {
        let table = CharacterTable.shared
        let scanner = UTF8Scanner(bytes: word)
        var scalars: [UInt32] = []
        var isComposed = true
        var offset = 0
        while offset < word.count {
            let (scalar, end) = scanner.scalar(at: offset)
            offset = end
            if isTurkic, scalar == 0x49 || scalar == 0x130 {
                // İ may be written as I and a dot.
                let hasDot = offset < word.count && scanner.scalar(at: offset).value == 0x307
                scalars.append(scalar == 0x130 || hasDot ? 0x69 : 0x131)
                if scalar == 0x49, hasDot { offset = scanner.scalar(at: offset).end }
            } else if let folded = table.folding(scalar) {
                scalars += folded
                isComposed = isComposed && folded.allSatisfy(table.isComposed)
            } else {
                scalars.append(scalar)
                isComposed = isComposed && table.isComposed(scalar)
            }
        }
        if !isComposed { table.compose(&scalars) }
        let start = bytes.count
        for scalar in scalars where !Self.isLeftOut(scalar) {
            if Self.skinTones.contains(scalar), bytes.count > start { continue }
            appendUTF8(scalar, to: &bytes)
        }
        Self.removePossessive(&bytes, from: start)
    }

    /// Removes an apostrophe with s from the end of the word that begins at `start`: *O'Brien* finds *O'Brien's*.
    @inline(__always) static func removePossessive(_ bytes: inout [UInt8], from start: Int) {
        let end = bytes.count
        guard end - start > 2, bytes[end - 1] == UInt8(ascii: "s"), bytes[end - 2] == UInt8(ascii: "'") else {
            return
        }
        bytes.removeLast(2)
    }

    /// The colours of skin that follow a pictograph.
    private static let skinTones: ClosedRange<UInt32> = 0x1F3FB...0x1F3FF

    /// Soft hyphens, joiners and marks of direction, which nobody sees; the line that stretches Arabic words; and U+0000.
    private static func isLeftOut(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0, 0xAD, 0x640, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0xFE00...0xFE0F, 0xFEFF: true
        default: false
        }
    }
}
