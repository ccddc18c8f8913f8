import Foundation
import RoostBytes
import RoostSimulation
import Testing

@testable import RoostText

/// Lists of words, their bytes and places, and the forms that words have in every language.
@Suite struct WordFormTests {
    @Test func aListKeepsPlacesOfWhatItLeavesOut() {
        var list = WordList()
        list.append("a", at: 0..<1)
        list.append("", at: 1..<2)
        list.append("\u{0}b", at: 2..<3)
        list.skip()
        list.append("c", at: 4..<5)
        #expect(list.strings == ["a", "c"] && list.count == 2)
        #expect(list.words.map(\.position) == [0, 4])
        #expect(list.sources == [0..<1, 4..<5])
        list.removeAll()
        #expect(list.count == 0)
        list.append("d", at: 0..<1)
        #expect(list.words.map(\.position) == [0])
    }

    @Test(arguments: ["x", "é", "東", "🦉"])
    func aLongWordEndsWithAWholeCharacter(letter: String) {
        var list = WordList()
        list.append("a" + String(repeating: letter, count: 200), at: 0..<1)
        let word = list.strings[0]
        #expect(word.utf8.count <= WordList.longestWord)
        #expect(word.utf8.count > WordList.longestWord - 4)
        #expect(word.dropFirst().allSatisfy { String($0) == letter })
    }

    /// Ill-formed bytes are read one by one, and what is well-formed after them is read right.
    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xE6, 0x9D], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF8],
            [0xFF, 0xFE],
        ] as [[UInt8]])
    func illFormedBytesAreNoCharacters(bytes: [UInt8]) {
        (bytes + Array(" owl".utf8)).withView { view in
            let scanner = UTF8Scanner(bytes: view)
            var (offset, scalars) = (0, [UInt32]())
            while offset < view.count {
                let (value, end) = scanner.scalar(at: offset)
                scalars.append(value)
                offset = end
            }
            #expect(scalars.suffix(4) == [0x20, 0x6F, 0x77, 0x6C])
            #expect(scalars.dropLast(4).allSatisfy { $0 == 0xFFFD } && scalars.count > 4)
            var list = WordList()
            WordTokenizer().words(of: view, into: &list)
            #expect(list.strings.last == "owl")
        }
    }

    /// What is appended as UTF-8 is what the standard library has of the character.
    @Test(arguments: [0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFD, 0xFFFF, 0x1_0000, 0x10_FFFF] as [UInt32])
    func charactersAsUTF8(value: UInt32) throws {
        var bytes: [UInt8] = []
        appendUTF8(value, to: &bytes)
        let scalar = try #require(Unicode.Scalar(value))
        #expect(bytes == Array(String(Character(scalar)).utf8))
    }

    /// A word is folded once for all: what folding answers folds to itself, and so do its case, order of marks and composition.
    @Test(arguments: TextLanguage.allCases)
    func foldingIsDone(language: TextLanguage) {
        let alphabet = Array("aIiİıßéÉe\u{301}\u{323}ÅÆøΣσςЁж'\u{2019}sS서한ﬁ１ｶﾞ🦉👍🏽".unicodeScalars)
        let folding = WordFolding(language: language)
        func folded(_ text: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            text.withView { folding.append($0, to: &bytes) }
            return bytes
        }
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<300 {
            var text: [UInt8] = []
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                appendUTF8(alphabet.randomElement(using: &generator)!.value, to: &text)
            }
            // A possessive that a possessive stood before is one itself.
            var once = folded(text)
            while case let again = folded(once), again.count < once.count { once = again }
            #expect(folded(once) == once, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    /// A stem is never longer than its word by more than a letter that takes an ending's place, is never empty, and is the same each time.
    @Test(arguments: TextLanguage.allCases)
    func stemsOfRandomWords(language: TextLanguage) {
        let letters = Array("abcdeéèfgghiıjklmnoöprsştuüyzß'ñçжйаияовй서울에은".unicodeScalars)
        var generator = SeededGenerator(seed: 5)
        let tokenizer = WordTokenizer(language: language)
        for _ in 0..<2000 {
            var view = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1...14, using: &generator) {
                view.append(letters.randomElement(using: &generator)!)
            }
            let word = String(view)
            let stem = language.stemmer.stem(word)
            // German writes ß as two letters.
            let longest = word.unicodeScalars.count + word.unicodeScalars.count { $0 == "ß" } + 1
            #expect(!stem.isEmpty && stem.unicodeScalars.count <= longest, "\(word)")
            #expect(language.stemmer.stem(word) == stem)
            let terms = tokenizer.terms(of: word)
            #expect(terms == tokenizer.terms(of: word) && !terms.root.isEmpty)
        }
    }

    @Test func endingsAreTheLongestOnesBehindALimit() {
        let word = StemWord("nesting")
        let endings = Endings("ing sting g", "ting")
        #expect(word.ending(endings)?.length == 5)
        #expect(word.ending(endings, from: 3)?.group == 1)
        #expect(word.ending(endings, from: 4)?.length == 3)
        #expect(word.ending(endings, from: 7) == nil)
        #expect(word.longestEnding(endings, notBefore: 3) == nil)
        #expect(word.fromEnd(0) == "g" && word.fromEnd(7) == nil)
    }

    @Test func regionsEndWithTheWord() {
        let vowels: LetterSet = "aeiou"
        #expect(StemWord("").region(vowels) == 0 && StemWord("bcd").region(vowels) == 3)
        #expect(StemWord("beautiful").region(vowels) == 5)
        #expect(StemWord("").romanceRegion(vowels) == 0 && StemWord("a").romanceRegion(vowels) == 1)
        #expect(StemWord("oliva").romanceRegion(vowels) == 3 && StemWord("macho").romanceRegion(vowels) == 3)
        #expect(StemWord("aurea").romanceRegion(vowels) == 3)
    }

    @Test(arguments: TextLanguage.allCases)
    func namesOfLanguagesLeadToThem(language: TextLanguage) {
        for name in [
            language.rawValue, "\(language)", "\(language)".uppercased(), language.rawValue + "-XX",
            language.rawValue + "_xx",
        ] {
            #expect(TextLanguage(name) == language)
        }
    }
}

// MARK: - Stemmer tests

/// Stems, beside those that Snowball 3.1 (PyPI's snowballstemmer) makes of the same words.
@Suite struct StemmerTests {
    /// Words and their stems, from Vectors/<code>.txt.
    private static func vectors(_ language: TextLanguage) throws -> [(word: String, stem: String)] {
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Vectors")
        let text = try String(
            contentsOf: directory.appendingPathComponent("\(language.rawValue).txt"), encoding: .utf8)
        return text.split(separator: "\n").map { line in
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
    }

    /// Korean has no stemmer of Snowball's.
    @Test(arguments: TextLanguage.allCases.filter { $0 != .korean })
    func stemsAreSnowballs(_ language: TextLanguage) throws {
        let stemmer = language.stemmer
        let vectors = try Self.vectors(language)
        #expect(vectors.count >= 200)
        let wrong = vectors.filter { stemmer.stem($0.word) != $0.stem }
            .map { "\($0.word): \(stemmer.stem($0.word)), not \($0.stem)" }
        #expect(wrong.isEmpty, "\(wrong.count) of \(vectors.count): \(wrong.prefix(40))")
    }

    @Test(arguments: TextLanguage.allCases)
    func shortWordsAndWordsOfOtherScripts(_ language: TextLanguage) {
        for word in ["", "a", "b", "'", "''", "y", "日", "ß", "aa", "eee", "'s", "ing", "ed", "s"] {
            _ = language.stemmer.stem(word)
        }
    }

    @Test(arguments: [
        ("서울에서", "서울"), ("서울은", "서울"), ("서울에서는", "서울"), ("서울로", "서울"), ("학교에", "학교"),
        ("학교로부터", "학교"), ("집으로", "집"), ("물을", "물"), ("나는", "나"), ("나에게", "나"), ("사람들과의", "사람들"),
        ("컴퓨터를", "컴퓨터"), ("회사와", "회사"), ("선생님께서", "선생님"), ("아침부터", "아침"), ("책이라도", "책"),
    ])
    func koreanParticles(word: String, stem: String) {
        #expect(TextLanguage.korean.stemmer.stem(word) == stem)
        #expect(WordTokenizer(language: .korean).terms(of: word) == WordTerms(root: stem, exact: word))
    }

    /// What looks like a particle and is none: after a syllable that it can't follow, or of a word that would be too short.
    @Test(arguments: ["가을", "마을", "서울", "나이", "회의", "효과", "종로", "에서", "은", "owl은", "서울a에"])
    func koreanWordsThatEndLikeParticles(word: String) {
        #expect(TextLanguage.korean.stemmer.stem(word) == word)
    }
}
