import Foundation
import RoostBytes
import RoostSimulation
import Testing

@testable import RoostText

/// The words of texts of many languages, and their forms.
@Suite struct WordTokenizerTests {
    private func words(_ text: String, _ tokenizer: WordTokenizer = WordTokenizer()) -> [String] {
        var words = WordList()
        tokenizer.words(of: text, into: &words)
        let exact = words.strings.map { tokenizer.terms(of: $0).exact }
        for source in words.sources {
            #expect(
                String(Substring(text.utf8.dropFirst(source.lowerBound).prefix(source.count))).utf8.count
                    == source.count)
        }
        return exact
    }

    @Test func english() {
        #expect(
            words("The Owl's nest, e.g. at 3.14 or 1,000 m (foo_bar)!") == [
                "the", "owl", "nest", "e.g", "at", "3.14", "or", "1,000", "m", "foo_bar",
            ])
        #expect(
            words("don\u{2019}t stop a:b 1:2 ___ a-b x, y") == [
                "don't", "stop", "a:b", "1", "2", "a", "b", "x", "y",
            ])
        #expect(words("") == [] && words(" ... !") == [])
    }

    @Test func aWordOfASCIIMeetsOtherCharacters() {
        #expect(words("naïve cafe\u{301} Straße") == ["naive", "cafe", "strasse"])
        #expect(
            words("a.é a.\u{308}b 1,٢") == [
                "a.e", "a.\u{308}b".unicodeScalars.filter { $0 != "\u{308}" }.map(String.init).joined(),
                "1,٢",
            ])
    }

    @Test func accentsStrokesAndCase() {
        #expect(words("Ångström ŁÓDŹ Ærø ΣΊΣΥΦΟΣ ЁЛКА") == ["angstrom", "lodz", "aero", "σισυφοσ", "елка"])
        let exact = WordTokenizer(ignoresAccents: false)
        #expect(words("Ångström A\u{30A}ngstro\u{308}m", exact) == ["ångström", "ångström"])
        #expect(words("ﬁne \u{212B} ＡＢＣ１", exact) == ["fine", "å", "abc1"])
    }

    @Test func englishIsStemmedAsItIsTyped() {
        let english = WordTokenizer(language: .english)
        #expect(english.terms(of: "résumé") == english.terms(of: "resume"))
        #expect(english.terms(of: "naïveté").root == english.terms(of: "naivete").root)
        let exact = WordTokenizer(language: .english, ignoresAccents: false)
        #expect(exact.terms(of: "résumé") != exact.terms(of: "resume"))
        // Accents tell endings of other languages.
        #expect(WordTokenizer(language: .french).terms(of: "aimé").root == "aim")
    }

    @Test func marksInAnotherOrderAreTheSameWord() {
        let exact = WordTokenizer(ignoresAccents: false)
        #expect(words("q\u{307}\u{323}", exact) == words("q\u{323}\u{307}", exact))
    }

    @Test func arabicAndHebrewWithoutPoints() {
        #expect(words("اَلْعَرَبِيَّةُ العربيّة") == ["العربية", "العربية"])
        #expect(words("أحمد احمد كـــتاب كتاب") == ["احمد", "احمد", "كتاب", "كتاب"])
        #expect(words("שָׁלוֹם שלום") == ["שלום", "שלום"])
    }

    @Test func turkishHasTwoLettersI() {
        let turkish = WordTokenizer(language: .turkish, ignoresAccents: false)
        #expect(words("IŞIK ışık İSTANBUL istanbul", turkish) == ["ışık", "ışık", "istanbul", "istanbul"])
        #expect(words("IŞIK isik", WordTokenizer(language: .turkish)) == ["isik", "isik"])
        #expect(words("I\u{307}STANBUL ISI\u{307}", turkish) == ["istanbul", "ısi"])
        #expect(words("I\u{307}", WordTokenizer(ignoresAccents: false)) == ["i\u{307}"])
    }

    @Test func scriptsWithoutSpacesBecomePairs() {
        #expect(words("東京都に") == ["東京", "京都", "都に", "に"])
        #expect(words("パソコン ｶﾞｲﾄﾞ") == ["パソ", "ソコ", "コン", "ン", "ガイ", "イド", "ド"])
        #expect(words("สวัสดี") == ["สวั", "วัส", "สดี", "ดี"])
        #expect(words("木 owl木") == ["木", "owl", "木"])
        var list = WordList()
        WordTokenizer().words(of: "東京 a", into: &list)
        #expect(list.words.map(\.kind) == [.pair, .last, .word])
        #expect(list.sources == [0..<6, 3..<6, 7..<8])
    }

    @Test func koreanByWord() {
        #expect(words("한국어 검색") == ["한국어", "검색"])
        #expect(words("\u{1112}\u{1161}\u{11AB}국어") == ["한국어"])
    }

    @Test func pictographsAreWordsOtherSignsAreNot() {
        #expect(words("I ❤ 🦉🦉 © ½") == ["i", "❤", "🦉", "🦉", "½"])
    }

    @Test func flagsAreWords() {
        #expect(words("🇩🇪🇫🇷 a🇯🇵b") == ["🇩🇪", "🇫🇷", "a", "🇯🇵", "b"])
        // One indicator alone is no flag.
        #expect(words("\u{1F1E9} 🇩🇪\u{1F1EB}") == ["🇩🇪"])
        // England's, of a black flag and tags, is not the black flag.
        let england = words("🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴")
        #expect(england.count == 2 && england[0] != england[1])
    }

    @Test func aPictographIsOneInAnyColourAndForm() {
        #expect(words("👍🏽 👍 👍🏿👍🏻") == ["👍", "👍", "👍", "👍"])
        #expect(words("❤\u{FE0F} ❤") == ["❤", "❤"])
        // A colour of skin alone is no word.
        #expect(words("🏽").isEmpty)
        // What joiners put together is one word, without the joiners.
        #expect(words("👩🏽‍🚀 👨‍👩‍👧") == ["👩🚀", "👨👩👧"])
        #expect(words("1\u{FE0F}\u{20E3}").count == 1)
    }

    /// Without a language, too. Other apostrophes are part of the word.
    @Test func aPossessiveIsFoundByItsName() {
        for text in [
            "O'Brien's", "O\u{2019}Brien\u{2019}s", "o'brien'S", "O\u{FF07}BRIEN\u{FF07}S", "O'Brien",
        ] {
            #expect(words(text) == ["o'brien"], "\(text)")
        }
        #expect(words("it's James' café's 's s's l'été") == ["it", "james", "cafe", "s", "s", "l'ete"])
        var list = WordList()
        WordTokenizer(stopWords: ["it's"]).words(of: "It\u{2019}s owls", into: &list)
        #expect(list.strings == ["owls"])
        #expect(list.words.map(\.position) == [1])
    }

    @Test func stopWordsKeepTheirPlaces() {
        var list = WordList()
        WordTokenizer(stopWords: ["The", "of"]).words(of: "the king of THE hill", into: &list)
        #expect(list.strings == ["king", "hill"])
        #expect(list.words.map(\.position) == [1, 4])
    }

    @Test func longWordsAreCutAfterACharacter() {
        let found = words(String(repeating: "é", count: 100), WordTokenizer(ignoresAccents: false))
        #expect(found == [String(repeating: "é", count: 64)])
        #expect(words(String(repeating: "x", count: 300)) == [String(repeating: "x", count: 128)])
    }

    @Test func whatAnIndexDependsOnIsInTheVersion() {
        let versions = [
            WordTokenizer(), WordTokenizer(language: .german), WordTokenizer(ignoresAccents: false),
            WordTokenizer(stopWords: ["a"]),
        ].map(\.version)
        #expect(Set(versions).count == 4)
    }

    @Test func randomBytesNeverTrapAndAllPlacesLieInTheText() {
        var generator = SeededGenerator(seed: 22)
        for _ in 0..<300 {
            let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                [UInt8.random(in: 0...255, using: &generator), 0x27, 0x2E, 0x61, 0xCC, 0x88].randomElement(
                    using: &generator)!
            }
            var list = WordList()
            bytes.withView { WordTokenizer(language: .english).words(of: $0, into: &list) }
            var end = 0
            for word in list.words {
                #expect(word.length > 0 && word.length <= WordList.longestWord, "\(bytes)")
                #expect(word.source.lowerBound >= 0 && word.source.upperBound <= bytes.count, "\(bytes)")
                #expect(word.source.upperBound >= end, "\(bytes)")
                end = word.source.upperBound
            }
        }
    }

    @Test func namesOfLanguages() {
        #expect(
            TextLanguage("de") == .german && TextLanguage("German") == .german
                && TextLanguage("de-AT") == .german)
        #expect(TextLanguage("nb") == .norwegian && TextLanguage("xx") == nil && TextLanguage("") == nil)
    }
}

// MARK: - Word boundary tests

/// Boundaries of words, by Unicode's own cases.
@Suite struct WordBoundaryTests {
    /// Lines of WordBreakTest.txt (Unicode 15): boundaries as ÷, and characters in hexadecimal.
    private static let sample = """
        ÷ 0001 ÷ 0001 ÷
        ÷ 000D × 000A ÷ 0308 ÷ 0041 ÷
        ÷ 0020 × 0308 ÷ 0041 ÷
        ÷ 0041 × 003A × 0308 × 0041 ÷
        ÷ 0061 × 0300 × 0062 ÷
        ÷ 0031 × 002E × 0031 ÷
        ÷ 0061 ÷ 002C ÷ 0061 ÷
        ÷ 05D0 × 0027 ÷
        ÷ 05D0 × 0022 × 05D0 ÷
        ÷ 05D0 ÷ 0022 ÷ 0061 ÷
        ÷ 3031 × 3031 ÷ 0020 ÷
        ÷ 0061 ÷ 1F1E6 × 1F1E7 ÷ 1F1E8 ÷ 0062 ÷
        ÷ 1F1E6 × 1F1E7 × 200D ÷ 1F1E8 ÷ 0062 ÷
        ÷ 1F476 × 1F3FF ÷ 1F476 ÷
        ÷ 1F6D1 × 200D × 1F6D1 ÷
        ÷ 0061 × 200D × 1F6D1 ÷
        ÷ 0061 ÷ 0020 × 0020 ÷ 0062 ÷
        ÷ 0061 × 0031 × 005F × 0061 ÷ 002C ÷ 002C ÷ 0061 ÷
        ÷ 0031 ÷ 003A ÷ 0031 ÷
        ÷ 2060 ÷ 0061 ÷ 0024 ÷ 002D ÷ 0033 × 0034 × 002C × 0035 × 0036 × 0037 × 002E × 0031 × 0034 ÷ 0025 ÷ 0062 ÷
        """

    @Test func theSampleOfUnicodesCases() { check(Self.sample) }

    @Test func allOfUnicodesCasesWhereTheSystemHasThem() throws {
        let path = "/usr/share/unicode/auxiliary/WordBreakTest.txt"
        guard FileManager.default.fileExists(atPath: path) else { return }
        check(try String(contentsOfFile: path, encoding: .utf8))
    }

    private func check(_ cases: String) {
        var count = 0
        for line in cases.split(separator: "\n") {
            let fields = line.prefix { $0 != "#" }.split(separator: " ")
            guard fields.count > 1 else { continue }
            var text: [UInt8] = []
            var expected: [Int] = []
            for field in fields.map({ $0.trimmingCharacters(in: .whitespaces) }) {
                switch field {
                case "÷": expected.append(text.count)
                case "×", "": break
                default: appendUTF8(UInt32(field, radix: 16)!, to: &text)
                }
            }
            var found = [0]
            text.withView { view in
                let boundaries = WordBoundaries(scanner: UTF8Scanner(bytes: view))
                while let last = found.last, last < view.count {
                    found.append(boundaries.segment(from: last).end)
                }
            }
            #expect(found == expected, "\(line)")
            count += 1
        }
        #expect(count >= 20)
    }
}

// MARK: - Gram tokenizer tests

/// Trigrams: whatever is part of a text has the characters of a part of it.
@Suite struct TrigramTokenizerTests {
    private func trigrams(_ text: String) -> [String] {
        var words = WordList()
        TrigramTokenizer().words(of: text, into: &words)
        return words.strings
    }

    @Test func threeInARowAndTheLastTwo() {
        #expect(trigrams("") == [] && trigrams("a") == [])
        #expect(trigrams("ab") == ["ab"])
        #expect(trigrams("abc") == ["abc", "bc"])
        #expect(trigrams("a bcd") == ["a b", " bc", "bcd", "cd"])
    }

    @Test func caseMarksAndWidthAreNotCompared() {
        for text in ["Cafe", "CAFÉ", "cafe\u{301}", "ｃａｆé"] {
            #expect(trigrams(text) == trigrams("cafe"), "\(text)")
        }
        #expect(trigrams("Straße") == trigrams("STRASSE"))
        #expect(trigrams("a\tb\nc") == trigrams("a b c"))
        #expect(trigrams("서울") == trigrams("\u{1109}\u{1165}\u{110B}\u{116E}\u{11AF}"))
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
            let whole = TrigramTokenizer.characters(of: text)
            let part = TrigramTokenizer.characters(of: text[start..<end])
            let isThere =
                part.isEmpty
                || (0...max(whole.count - part.count, 0)).contains { whole[$0...].starts(with: part) }
            #expect(isThere, "\(text) \(start) \(end)")
        }
    }
}
