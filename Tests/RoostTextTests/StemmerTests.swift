import Foundation
import Testing

@testable import RoostText

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
