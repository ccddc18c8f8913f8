import RoostBytes
import Testing

@testable import RoostOrder

/// Orders of languages: samples in the order that their dictionaries have, each text before the next.
@Suite struct TailoringTests {
    private func order(_ a: String, _ b: String, _ order: UnicodeOrder) -> Int {
        Collation(texts: .unicode(order)).compare(a, b).signum()
    }

    static let samples: [(tailoring: Tailoring, texts: [String])] = [
        (.swedish, ["a", "Dag", "đag", "v", "w", "y", "ü", "z", "å", "Å", "ä", "æ", "ö", "ø"]),
        (.swedish, ["Zorn", "Åberg", "Ängel", "Öberg"]),
        (.danish, ["A", "a", "B", "b", "Z", "z", "Æ", "æ", "ä", "Ø", "ø", "ö", "Å", "AA", "Aa", "å", "aa"]),
        (.danish, ["Andersen", "Zahle", "Ærø", "Østergaard", "Aalborg"]),
        (.norwegian, ["a", "A", "z", "æ", "Æ", "ä", "ø", "Ø", "ö", "å", "Å", "aa", "Aa", "AA"]),
        (.germanPhonebook, ["ad", "Ae", "ä", "Ä", "af", "Goethe", "Göthe", "Goetz", "ue", "ü", "uf"]),
        (.spanish, ["cz", "d", "lz", "m", "n", "nz", "ñ", "Ñ", "ña", "o"]),
        (.spanishTraditional, ["c", "cz", "ch", "Ch", "CH", "d", "l", "lz", "ll", "m", "nz", "ñ", "o"]),
        (.czech, ["c", "cz", "č", "d", "h", "hz", "ch", "Ch", "CH", "i", "r", "ř", "s", "š", "z", "ž"]),
        (.slovak, ["a", "az", "ä", "b", "cz", "č", "h", "ch", "i", "o", "oz", "ô", "p", "š", "t", "ž"]),
        (
            .polish,
            ["a", "az", "ą", "b", "cz", "ć", "d", "l", "lz", "ł", "m", "ó", "p", "ś", "t", "z", "ź", "ż"]
        ),
        (
            .hungarian,
            ["c", "cz", "cs", "Cs", "CS", "ccs", "d", "dz", "dzs", "e", "g", "gy", "h", "o", "ö", "ő", "p"]
        ),
        (
            .turkish,
            ["c", "ç", "d", "g", "ğ", "h", "ı", "I", "i", "İ", "j", "o", "ö", "p", "s", "ş", "t", "u", "ü"]
        ),
        (.finnish, ["t", "y", "ü", "z", "å", "ä", "æ", "ö", "ø"]),
        (.estonian, ["s", "š", "z", "ž", "t", "u", "v", "w", "õ", "ä", "ö", "ü", "x", "y"]),
        (
            .icelandic,
            ["a", "á", "b", "d", "ð", "e", "é", "f", "i", "í", "j", "y", "ý", "z", "þ", "æ", "ö", "å"]
        ),
    ]

    @Test("Samples", arguments: 0..<samples.count) func sample(_ number: Int) {
        let (tailoring, texts) = Self.samples[number]
        let order = UnicodeOrder(tailoring: tailoring)
        for (index, text) in texts.enumerated() {
            for later in texts[(index + 1)...] {
                #expect(self.order(text, later, order) < 0, "\(tailoring): \(text) before \(later)")
            }
        }
    }

    @Test(
        "No weight of a language's begins another one, so keys compare letter by letter",
        arguments: Tailoring.allCases)
    func rules(_ tailoring: Tailoring) throws {
        let rules = try #require(Tailoring.rules[tailoring])
        #expect(!rules.elements.isEmpty)
        let primaries = Set(CollationTable.table(tailoring).elements.map(\.primary)).subtracting([0]).map {
            weight in
            (0..<4).map { UInt8(truncatingIfNeeded: weight >> (24 - 8 * $0)) }.prefix { $0 != 0 }
        }
        let sorted = primaries.sorted { $0.lexicographicallyPrecedes($1) }
        for (a, b) in zip(sorted, sorted.dropFirst()) { #expect(!b.starts(with: a), "\(a) begins \(b)") }
    }

    @Test("Composed and decomposed texts are the same, with other marks, too") func forms() {
        let order = UnicodeOrder(tailoring: .swedish)
        #expect(self.order("å", "a\u{30A}", order) == 0)
        #expect(self.order("a\u{323}\u{30A}", "a\u{30A}\u{323}", order) == 0)
        #expect(self.order("z", "a\u{323}\u{30A}", order) < 0)
    }

    @Test("Case and accents are ignored within a language's letters") func ignoring() {
        let caseless = UnicodeOrder(ignoringCase: true, accents: true, tailoring: .swedish)
        #expect(order("ÅNGSTRÖM", "ångström", caseless) == 0 && order("z", "å", caseless) < 0)
        #expect(order("ä", "æ", caseless) == 0 && order("o", "ö", caseless) < 0)
        #expect(order("A", "a", UnicodeOrder(accents: true, tailoring: .danish)) < 0)
    }

    @Test("Locales name their languages' order, or none") func locales() {
        let named: [(String, Tailoring?)] = [
            ("sv", .swedish), ("sv_SE", .swedish), ("SV-fi", .swedish), ("nn_NO", .norwegian),
            ("no", .norwegian),
            ("de", nil), ("de_DE@collation=phonebook", .germanPhonebook),
            ("de-u-co-phonebk", .germanPhonebook),
            ("es_MX", .spanish), ("es-u-co-trad", .spanishTraditional), ("en_US", nil), ("", nil),
            ("zz", nil),
        ]
        for (locale, tailoring) in named { #expect(Tailoring(locale: locale) == tailoring, "\(locale)") }
        let signatures =
            Tailoring.allCases.map { UnicodeOrder(tailoring: $0).signature } + [UnicodeOrder().signature]
        #expect(Set(signatures).count == Tailoring.allCases.count + 1)
    }
}
