import Foundation
import Testing

@testable import RoostText

/// Stems, beside those that Snowball 3.1 (PyPI's snowballstemmer) makes of the same words.
@Suite struct StemmerTests {
    /// Words and their stems, from Vectors/<code>.txt.
    private static func vectors(_ language: Language) throws -> [(word: String, stem: String)] {
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Vectors")
        let text = try String(
            contentsOf: directory.appendingPathComponent("\(language.rawValue).txt"), encoding: .utf8)
        return text.split(separator: "\n").map { line in
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            return (String(parts[0]), String(parts[1]))
        }
    }

    @Test(arguments: Language.allCases)
    func stemsAreSnowballs(_ language: Language) throws {
        let stemmer = language.stemmer
        let vectors = try Self.vectors(language)
        #expect(vectors.count >= 200)
        let wrong = vectors.filter { stemmer.stem($0.word) != $0.stem }
            .map { "\($0.word): \(stemmer.stem($0.word)), not \($0.stem)" }
        #expect(wrong.isEmpty, "\(wrong.count) of \(vectors.count): \(wrong.prefix(40))")
    }

    @Test(arguments: Language.allCases)
    func shortWordsAndWordsOfOtherScripts(_ language: Language) {
        for word in ["", "a", "b", "'", "''", "y", "日", "ß", "aa", "eee", "'s", "ing", "ed", "s"] {
            _ = language.stemmer.stem(word)
        }
    }
}
