/// A word that is being stemmed: its letters, and the regions in which endings may be taken off.
struct StemWord {
    typealias Letter = Unicode.Scalar

    var letters: [Letter]

    init(_ word: String) { letters = Array(word.unicodeScalars) }

    var string: String { Self.string(letters[...]) }

    static func string(_ letters: ArraySlice<Letter>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: letters)
        return String(view)
    }

    var count: Int { letters.count }

    /// The letter that many places before the end; `nil` before the beginning.
    func fromEnd(_ distance: Int) -> Letter? {
        distance < letters.count ? letters[letters.count - 1 - distance] : nil
    }

    // MARK: Beginnings and endings

    /// Whether the letters before `end`, none of them before `limit`, are `suffix`.
    func ends(_ suffix: Letters, before end: Int? = nil, from limit: Int = 0) -> Bool {
        let end = end ?? letters.count
        let start = end - suffix.letters.count
        return start >= limit && start >= 0 && letters[start..<end].elementsEqual(suffix.letters)
    }

    /// The longest ending of the table that lies behind `limit`, and its group.
    func ending(_ table: Endings, from limit: Int = 0, before end: Int? = nil) -> (length: Int, group: Int)? {
        for entry in table.entries where ends(entry.letters, before: end, from: limit) {
            return (entry.letters.letters.count, entry.group)
        }
        return nil
    }

    /// The longest ending of the table, provided that it lies behind `limit`; one that is shorter is none then.
    func longestEnding(_ table: Endings, notBefore limit: Int) -> (length: Int, group: Int)? {
        guard let ending = ending(table), letters.count - ending.length >= limit else { return nil }
        return ending
    }

    func begins(_ prefix: Letters) -> Bool { letters.starts(with: prefix.letters) }

    mutating func removeLast(_ count: Int) { letters.removeLast(count) }

    /// Puts `replacement` in the place of the last `count` letters.
    mutating func replaceLast(_ count: Int, _ replacement: Letters) {
        letters.replaceSubrange((letters.count - count)..., with: replacement.letters)
    }

    /// Takes an ending off that lies behind `limit`.
    @discardableResult
    mutating func remove(_ suffix: Letters, from limit: Int) -> Bool {
        guard ends(suffix, from: limit) else { return false }
        removeLast(suffix.letters.count)
        return true
    }

    /// Takes the longest ending of a table off, provided that it lies behind `limit`.
    mutating func remove(_ table: Endings, notBefore limit: Int) {
        if let ending = longestEnding(table, notBefore: limit) { removeLast(ending.length) }
    }

    /// Takes off what stands before the ending of an adverb of a Romance language: endings of the first group, and "iv", behind which
    /// "at" goes, too.
    mutating func removeBeforeAdverb(_ table: Endings, _ r2: Int) {
        guard let ending = longestEnding(table, notBefore: r2) else { return }
        removeLast(ending.length)
        if ending.group == 1 { remove("at", from: r2) }
    }

    /// Writes letters in capitals that stand between vowels, from the left: they are consonants there.
    mutating func markConsonants(_ marks: [Letter: Letter], between vowels: LetterSet) {
        guard letters.count > 2 else { return }
        for index in 1..<letters.count - 1
        where vowels.contains(letters[index - 1]) && vowels.contains(letters[index + 1]) {
            if let mark = marks[letters[index]] { letters[index] = mark }
        }
    }

    mutating func replaceAll(_ old: Letter, _ new: Letter) {
        for index in letters.indices where letters[index] == old { letters[index] = new }
    }

    /// Puts `replacement` in the place of a run of letters, wherever it is.
    mutating func rewrite(_ old: Letters, _ replacement: Letters) {
        var result: [Letter] = []
        for letter in letters {
            result.append(letter)
            if result.suffix(old.letters.count).elementsEqual(old.letters) {
                result.replaceSubrange((result.count - old.letters.count)..., with: replacement.letters)
            }
        }
        letters = result
    }

    // MARK: Regions

    /// Where the region behind the first consonant that follows a vowel begins, looking from `start` on; the end if there is none.
    func region(_ vowels: LetterSet, from start: Int = 0) -> Int {
        var index = start
        while index < letters.count, !vowels.contains(letters[index]) { index += 1 }
        while index < letters.count, vowels.contains(letters[index]) { index += 1 }
        return min(index + 1, letters.count)
    }

    /// RV of the Romance languages: behind the next vowel if the second letter is a consonant, behind the next consonant if the
    /// first two are vowels, and behind the third letter otherwise.
    func romanceRegion(_ vowels: LetterSet) -> Int {
        guard letters.count >= 2 else { return letters.count }
        let isVowel = letters.map(vowels.contains)
        if !isVowel[1] { return isVowel[2...].firstIndex(of: true).map { $0 + 1 } ?? letters.count }
        if isVowel[0] { return isVowel[2...].firstIndex(of: false).map { $0 + 1 } ?? letters.count }
        return letters.count >= 3 ? 3 : letters.count
    }
}

/// A run of letters.
struct Letters: Sendable, ExpressibleByStringLiteral {
    let letters: [Unicode.Scalar]

    init(_ text: some StringProtocol) { letters = Array(text.unicodeScalars) }
    init(stringLiteral text: String) { self.init(text) }
}

/// Some letters.
struct LetterSet: Sendable, ExpressibleByStringLiteral {
    private let letters: Set<Unicode.Scalar>

    init(stringLiteral text: String) { letters = Set(text.unicodeScalars) }

    func contains(_ letter: Unicode.Scalar) -> Bool { letters.contains(letter) }
    func contains(_ letter: Unicode.Scalar?) -> Bool { letter.map(letters.contains) ?? false }
}

/// Endings in groups, of which the longest one is looked for.
struct Endings: Sendable {
    /// The longest first.
    fileprivate let entries: [(letters: Letters, group: Int)]

    /// Groups of endings, numbered from 0, each with spaces between its endings.
    init(_ groups: String...) {
        entries = groups.enumerated().flatMap { group, endings in
            endings.split(separator: " ").map { (Letters($0), group) }
        }.sorted { $0.0.letters.count > $1.0.letters.count }
    }
}

/// Takes the endings off the words of a language.
protocol Stemmer: Sendable {
    /// Replaces a word, in lower case and Normalization Form C, by its stem.
    func stem(_ word: inout StemWord)
}

extension Stemmer {
    /// The stem of a word; the word itself where nothing would be left of it.
    func stem(_ word: String) -> String {
        var letters = StemWord(word)
        stem(&letters)
        let stem = letters.string
        return stem.isEmpty ? word : stem
    }
}
