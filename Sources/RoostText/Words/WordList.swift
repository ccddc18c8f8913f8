import RoostBytes

/// The words of a text, in their order, with the places where they stand.
///
/// A ``Tokenizer`` fills it. Words are folded: two that shall count as one are the same bytes.
public struct WordList: Sendable {
    /// A word of the list.
    package struct Word: Sendable, Equatable {
        /// What a word of a script without spaces is.
        package enum Kind: UInt8, Sendable {
            /// A word.
            case word
            /// Two characters that stand beside each other.
            case pair
            /// The last character of a run, which begins no pair.
            case last
        }

        /// Where its bytes begin in ``WordList/bytes``.
        package let start: Int
        /// How many bytes it has: 1 to ``WordList/longestWord``.
        package let length: Int
        /// Its number among the words; numbers that are missing are those of words that were omitted.
        package let position: UInt32
        package let kind: Kind
        /// Where it stands in the text, in bytes of UTF-8.
        package let source: Range<Int>
    }

    /// What is kept of a word, in bytes of UTF-8; longer ones are cut after a character.
    public static let longestWord = 128

    package internal(set) var bytes: [UInt8] = []
    package internal(set) var words: [Word] = []
    private var nextPosition: UInt32 = 0

    /// An empty list.
    public init() {}

    /// How many words there are.
    public var count: Int { words.count }

    /// The words as text.
    public var strings: [String] { words.map { String(decoding: bytes(of: $0), as: UTF8.self) } }

    /// Where each word stands in the text, in bytes of UTF-8.
    public var sources: [Range<Int>] { words.map(\.source) }

    package func bytes(of word: Word) -> ArraySlice<UInt8> { bytes[word.start..<word.start + word.length] }

    /// Adds the next word. An empty one, and one with the character U+0000, is omitted but keeps its place.
    ///
    /// - Parameters:
    ///   - word: the word as it shall be found.
    ///   - source: where it stands in the text, in bytes of UTF-8.
    public mutating func append(_ word: String, at source: Range<Int>) {
        let start = bytes.count
        bytes += word.utf8
        finish(start, source)
    }

    /// Leaves the place of a word free, so that phrases don't reach over it.
    public mutating func skip() { nextPosition &+= 1 }

    /// Makes the bytes since `start` the next word.
    @inline(__always) mutating func finish(_ start: Int, _ source: Range<Int>, _ kind: Word.Kind = .word) {
        if bytes.count - start > Self.longestWord { cut(start) }
        if bytes.count > start, bytes[start] != 0 {
            words.append(
                Word(
                    start: start, length: bytes.count - start, position: nextPosition, kind: kind,
                    source: source))
        }
        nextPosition &+= 1
    }

    /// Takes the bytes since `start` back and leaves the place of the word free.
    mutating func skip(_ start: Int) {
        bytes.removeSubrange(start...)
        skip()
    }

    private mutating func cut(_ start: Int) {
        var end = start + Self.longestWord
        while end > start, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        bytes.removeSubrange(end...)
    }

    /// Empties the list, keeping its memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        words.removeAll(keepingCapacity: true)
        nextPosition = 0
    }
}

// MARK: - Word folding

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

    /// Soft hyphens, joiners and marks of direction, which are not visible; the line that stretches Arabic words; and U+0000.
    private static func isLeftOut(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0, 0xAD, 0x640, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2064, 0xFE00...0xFE0F, 0xFEFF: true
        default: false
        }
    }
}
