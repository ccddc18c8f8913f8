import Foundation
import Roost
import RoostText

@testable import RoostQuery

/// Full-text search done naively: all words of all documents are looked at for each query.
struct TextModel {
    /// A word: its root and exact form, by column and position.
    private struct Word {
        let column: Int
        let position: Int
        let terms: WordTerms
        let kind: WordList.Word.Kind
    }

    private let tokenizer: any Tokenizer
    private let columns: [String]
    private var documents: [String: [Word]] = [:]
    private let typed = Typed()

    /// The words of queries, found once.
    private final class Typed {
        private var known: [String: [Word]] = [:]

        func words(_ text: String, _ find: () -> [Word]) -> [Word] {
            if let words = known[text] { return words }
            let words = find()
            known[text] = words
            return words
        }
    }

    init(_ tokenizer: any Tokenizer, columns: [String]) {
        self.tokenizer = tokenizer
        self.columns = columns
    }

    mutating func set(_ id: String, _ texts: [String]?) {
        documents[id] = texts.map { texts in
            texts.enumerated().flatMap { column, text in words(of: text, column) }
        }
    }

    private func words(of text: String, _ column: Int) -> [Word] {
        var list = WordList()
        tokenizer.words(of: text, into: &list)
        return list.words.map { word in
            let text = String(decoding: list.bytes(of: word), as: UTF8.self)
            return Word(
                column: column, position: Int(word.position), terms: tokenizer.terms(of: text),
                kind: word.kind)
        }
    }

    // MARK: Matching

    /// The documents that a query matches.
    func matches(_ query: TextQuery) -> Set<String> {
        Set(documents.keys.filter { matches(query, documents[$0]!) ?? false })
    }

    /// `nil` for a part without words.
    private func matches(_ query: TextQuery, _ words: [Word]) -> Bool? {
        switch query {
        case .phrase(let phrase): return places(phrase, words).map { !$0.isEmpty }
        case .near(let phrases, let distance):
            return near(phrases, distance, words).map { $0.allSatisfy { !$0.isEmpty } }
        case .all(let parts):
            let known = parts.compactMap { matches($0, words) }
            return known.isEmpty ? nil : known.allSatisfy(\.self)
        case .any(let parts):
            let known = parts.compactMap { matches($0, words) }
            return known.isEmpty ? nil : known.contains(true)
        case .not(let part): return matches(part, words).map { !$0 }
        }
    }

    private struct Place: Hashable {
        let column: Int
        let position: Int
        let length: Int
    }

    /// Where a phrase begins; `nil` for one without words.
    private func places(_ phrase: TextPhrase, _ words: [Word]) -> [Place]? {
        var wanted = typed.words(phrase.text) { self.words(of: phrase.text, 0) }
        wanted = wanted.enumerated().filter { index, word in
            !(word.kind == .last && index > 0 && wanted[index - 1].kind == .pair
                && wanted[index - 1].position == word.position - 1)
        }.map(\.element)
        guard let first = wanted.first, let last = wanted.last else { return nil }
        let found = words.filter { start in
            if phrase.isAnchored && start.position != 0 { return false }
            if let names = phrase.columns,
                names.contains(ByteKey(columns[start.column])) == phrase.excludesColumns
            {
                return false
            }
            return wanted.allSatisfy { word in
                words.contains { other in
                    other.column == start.column
                        && other.position - start.position == word.position - first.position
                        && isSame(word, other, phrase.kind, isLast: word.position == last.position)
                }
            }
        }
        return found.map {
            Place(column: $0.column, position: $0.position, length: last.position - first.position + 1)
        }
    }

    private func isSame(_ word: Word, _ other: Word, _ kind: TextPhrase.Kind, isLast: Bool) -> Bool {
        if word.kind == .last { return other.terms.exact.hasPrefix(word.terms.exact) }
        return switch kind {
        case .prefix where isLast && word.kind == .word:
            other.terms.exact.unicodeScalars.starts(with: word.terms.exact.unicodeScalars)
        case .exact: word.terms.exact == other.terms.exact
        case .fuzzy(let distance) where word.kind == .word:
            Self.distance(Array(word.terms.exact), Array(other.terms.exact)) <= distance
        default: word.terms.root == other.terms.root
        }
    }

    /// The number of letters to put in, take out, replace or exchange with their neighbours.
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var table = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
        for i in 0...a.count {
            for j in 0...b.count {
                if i == 0 || j == 0 {
                    table[i][j] = i + j
                    continue
                }
                table[i][j] = min(
                    table[i - 1][j] + 1, table[i][j - 1] + 1,
                    table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
                }
            }
        }
        return table[a.count][b.count]
    }

    /// The places of each phrase that are in a group with all others.
    private func near(_ phrases: [TextPhrase], _ distance: Int, _ words: [Word]) -> [[Place]]? {
        let all = phrases.compactMap { places($0, words) }
        guard !all.isEmpty else { return nil }
        guard all.count > 1 else { return all }
        var kept = all.map { _ in Set<Place>() }
        for start in Set(all.joined()) {
            let window = all.map { places in
                places.filter {
                    $0.column == start.column && $0.position >= start.position
                        && $0.position <= start.position + start.length + distance
                }
            }
            guard window.allSatisfy({ !$0.isEmpty }) else { continue }
            for index in window.indices { kept[index].formUnion(window[index]) }
        }
        return zip(all, kept).map { all, kept in all.filter(kept.contains) }
    }

    // MARK: Ranking

    /// The BM25 score of each document that a query matches.
    func scores(_ query: TextQuery, weights: [Double]) -> [String: Double] {
        let found = matches(query)
        let average = Double(documents.values.reduce(0) { $0 + $1.count }) / Double(max(documents.count, 1))
        var scores: [String: Double] = [:]
        var known: [TextPhrase: Int] = [:]
        for id in found {
            let words = documents[id]!
            scores[id] = score(query, words) { phrase, places in
                let hits =
                    known[phrase] ?? documents.values.count { !(self.places(phrase, $0) ?? []).isEmpty }
                known[phrase] = hits
                let rarity = log((Double(documents.count - hits) + 0.5) / (Double(hits) + 0.5))
                let frequency = places.reduce(0) { $0 + weights[$1.column] }
                let norm = 1.2 * (0.25 + 0.75 * Double(words.count) / average)
                return phrase.boost * (rarity > 0 ? rarity : 1e-6) * frequency * 2.2 / (frequency + norm)
            }
        }
        return scores
    }

    private func score(
        _ query: TextQuery, _ words: [Word], _ value: (TextPhrase, [Place]) -> Double
    ) -> Double {
        guard matches(query, words) ?? false else { return 0 }
        switch query {
        case .phrase(let phrase): return value(phrase, places(phrase, words) ?? [])
        case .near(let phrases, let distance):
            let real = phrases.filter { places($0, words) != nil }
            return zip(real, near(phrases, distance, words) ?? []).reduce(0) { $0 + value($1.0, $1.1) }
        case .all(let parts), .any(let parts): return parts.reduce(0) { $0 + score($1, words, value) }
        case .not: return 0
        }
    }
}
