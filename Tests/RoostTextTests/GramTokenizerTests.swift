import RoostBytes
import RoostSimulation
import Testing

@testable import RoostText

/// Trigrams: whatever is part of a text has the characters of a part of it.
@Suite struct GramTokenizerTests {
    private func grams(_ text: String) -> [String] {
        var words = WordList()
        GramTokenizer().words(of: text, into: &words)
        return words.strings
    }

    @Test func threeInARowAndTheLastTwo() {
        #expect(grams("") == [] && grams("a") == [])
        #expect(grams("ab") == ["ab"])
        #expect(grams("abc") == ["abc", "bc"])
        #expect(grams("a bcd") == ["a b", " bc", "bcd", "cd"])
    }

    @Test func caseMarksAndWidthAreNotCompared() {
        for text in ["Cafe", "CAFÉ", "cafe\u{301}", "ｃａｆé"] {
            #expect(grams(text) == grams("cafe"), "\(text)")
        }
        #expect(grams("Straße") == grams("STRASSE"))
        #expect(grams("a\tb\nc") == grams("a b c"))
        #expect(grams("서울") == grams("\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}"))
    }

    /// The characters of a part of a text stand in a row in those of the text, wherever it is cut.
    @Test func aPartHasAPartOfTheCharacters() {
        let alphabet = Array("aBé e\u{301}ßﬁ東한İΣς🦉👍🏽\u{200D}\u{FE0F}\u{0}\n".unicodeScalars)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 1...20, using: &generator)).compactMap { _ in
                alphabet.randomElement(using: &generator)
            }
            let start = Int.random(in: 0..<text.count, using: &generator)
            let end = Int.random(in: start...text.count, using: &generator)
            let whole = GramTokenizer.characters(of: text)
            let part = GramTokenizer.characters(of: text[start..<end])
            let isThere =
                part.isEmpty
                || (0...max(whole.count - part.count, 0)).contains { whole[$0...].starts(with: part) }
            #expect(isThere, "\(text) \(start) \(end)")
        }
    }
}
