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

// MARK: - Russian stemmer

/// Snowball's stemmer for Russian.
struct RussianStemmer: Stemmer {
    private static let vowels: LetterSet = "аеиоуыэюя"
    // In pairs: endings that follow а or я, and endings that follow anything.
    private static let gerunds = Endings("в вши вшись", "ив ыв ивши ывши ившись ывшись")
    private static let adjectives = Endings(
        "ее ие ое ые ими ыми ей ий ой ый ем им ом ым его ого ему ому их ых ею ою ую юю ая яя")
    private static let participles = Endings("ем нн вш щ ющ", "ивш ывш ующ")
    private static let reflexives = Endings("сь ся")
    private static let verbs = Endings(
        "ла на ете йте ли й л ем н ло но нно ет ют ны ть ешь",
        """
        ила ыла ена ите ейте уйте или ыли ей уй ил ыл им ым ен ило ыло ено ует ит ыт уют ят ены ить ыть ишь ю ую
        """)
    private static let nouns = Endings(
        """
        а ев ов е ие ье и еи ии ами ями иями й ей ией ий ой ам ем ием ом ям иям о у ах ях иях ы ь ю ию ью я ия ья
        """)
    private static let superlatives = Endings("ейше ейш")

    func stem(_ word: inout StemWord) {
        word.replaceAll("ё", "е")
        guard let first = word.letters.firstIndex(where: { Self.vowels.contains($0) }) else { return }
        let region = first + 1
        let r2 = word.region(Self.vowels, from: word.region(Self.vowels))
        if !remove(Self.gerunds, &word, region) {
            if let ending = word.ending(Self.reflexives, from: region) { word.removeLast(ending.length) }
            if let ending = word.ending(Self.adjectives, from: region) {
                word.removeLast(ending.length)
                remove(Self.participles, &word, region)
            } else if !remove(Self.verbs, &word, region), let ending = word.ending(Self.nouns, from: region) {
                word.removeLast(ending.length)
            }
        }
        if word.ends("и", from: region) { word.removeLast(1) }
        for ending in ["ость", "ост"] as [Letters] where word.ends(ending, from: max(region, r2)) {
            word.removeLast(ending.letters.count)
            break
        }
        tidyUp(&word, region)
    }

    /// Takes an ending off, of the first group only behind а or я.
    @discardableResult
    private func remove(_ endings: Endings, _ word: inout StemWord, _ region: Int) -> Bool {
        guard let ending = word.ending(endings, from: region) else { return false }
        if ending.group == 0 {
            let before = word.fromEnd(ending.length)
            guard word.count - ending.length > region, before == "а" || before == "я" else { return false }
        }
        word.removeLast(ending.length)
        return true
    }

    private func tidyUp(_ word: inout StemWord, _ region: Int) {
        if let ending = word.ending(Self.superlatives, from: region) {
            word.removeLast(ending.length)
            if word.ends("нн", from: region) { word.removeLast(1) }
        } else if word.ends("нн", from: region) || word.ends("ь", from: region) {
            word.removeLast(1)
        }
    }
}

// MARK: - Korean stemmer

/// Takes the particles off Korean nouns: 서울에서 and 서울은 have the stem 서울.
///
/// There is no Snowball stemmer for Korean. This one knows the common particles and which of them follow a syllable with a final
/// consonant, so that the end of 가을 (autumn) is not taken for the particle 을. It knows nothing of verbs.
struct KoreanStemmer: Stemmer {
    /// What the syllable before a particle ends with.
    private enum Final {
        case any
        case consonant
        case vowel
        /// A vowel or ㄹ.
        case vowelOrRieul
    }

    /// The longest first.
    private static let particles: [(letters: Letters, final: Final)] =
        (particles(
            .any,
            "에게서 한테서 에서 에게 께서 한테 까지 부터 보다 처럼 마다 조차 마저 밖에 대로 같이 하고 의 에 께 도 만 뿐")
        + particles(.consonant, "으로부터 으로서 으로써 이라도 으로 이나 이란 이랑 은 이 을 과")
        + particles(.vowel, "라도 는 가 를 와 나 란 랑")
        + particles(.vowelOrRieul, "로부터 로서 로써 로")).sorted {
            $0.letters.letters.count > $1.letters.letters.count
        }

    /// The particles of one syllable that hardly end another word, and are taken off a single syllable, too.
    private static let clear: LetterSet = "은는을를"

    /// Particles that may follow one another: 서울에서는.
    private static let most = 2

    private static let syllables: ClosedRange<UInt32> = 0xAC00...0xD7A3
    /// How many syllables there are with the same beginning: one for each final, the first of which is none.
    private static let finals: UInt32 = 28
    private static let rieul: UInt32 = 8

    private static func particles(_ final: Final, _ list: String) -> [(letters: Letters, final: Final)] {
        list.split(separator: " ").map { (Letters($0), final) }
    }

    func stem(_ word: inout StemWord) {
        guard word.letters.allSatisfy({ Self.syllables.contains($0.value) }) else { return }
        for _ in 0..<Self.most {
            guard let particle = Self.particles.first(where: { Self.ends(word, $0.letters, $0.final) }) else {
                return
            }
            word.removeLast(particle.letters.letters.count)
        }
    }

    private static func ends(_ word: StemWord, _ particle: Letters, _ final: Final) -> Bool {
        let count = particle.letters.count
        let fewest = count > 1 || clear.contains(particle.letters[0]) ? 1 : 2
        guard word.count >= count + fewest, word.ends(particle), let last = word.fromEnd(count) else {
            return false
        }
        let end = (last.value - syllables.lowerBound) % finals
        return switch final {
        case .any: true
        case .consonant: end != 0
        case .vowel: end == 0
        case .vowelOrRieul: end == 0 || end == rieul
        }
    }
}
