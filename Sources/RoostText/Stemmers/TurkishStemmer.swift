/// Snowball's stemmer for Turkish, which takes the endings of nouns, and of verbs that are made of nouns, off.
struct TurkishStemmer: Stemmer {
    func stem(_ word: inout StemWord) {
        removeApostrophes(&word)
        guard word.letters.count(where: { TurkishEndings.vowels.contains($0) }) > 1 else { return }
        var endings = TurkishEndings(word)
        endings.removeVerbs()
        if endings.maybeNoun { endings.removeNouns() }
        word = endings.word
        if endings.maybeNoun { tidyUp(&word) }
    }

    /// Endings of names stand behind an apostrophe.
    private func removeApostrophes(_ word: inout StemWord) {
        let isMark = { $0 == "'" as StemWord.Letter }
        word.letters.removeFirst(word.letters.prefix(while: isMark).count)
        if let mark = word.letters.dropFirst(2).firstIndex(where: isMark) {
            word.removeLast(word.count - mark)
        }
    }

    private static let following: [StemWord.Letter: StemWord.Letter] = [
        "a": "ı", "ı": "ı", "e": "i", "i": "i", "o": "u", "u": "u", "ö": "ü", "ü": "ü",
    ]
    private static let hardened: [StemWord.Letter: StemWord.Letter] = [
        "b": "p", "c": "ç", "d": "t", "ğ": "k",
    ]

    /// Gives the last letter the form that it has without an ending.
    private func tidyUp(_ word: inout StemWord) {
        if word.string == "ad" || word.string == "soyad" { return }
        guard let last = word.letters.last else { return }
        if last == "d" || last == "g",
            let vowel = word.letters.last(where: { TurkishEndings.vowels.contains($0) })
        {
            if let next = Self.following[vowel] { word.letters.append(next) }
        } else if let hard = Self.hardened[last] {
            word.letters[word.count - 1] = hard
        }
    }
}

/// A word whose endings are found one before the other, from the end.
private struct TurkishEndings {
    private(set) var word: StemWord
    /// Whether there may be endings of a noun: not behind a plural that was that of a verb.
    private(set) var maybeNoun = true
    /// How many letters stand behind the place that was reached, and behind the endings that go next.
    private var (place, mark) = (0, 0)

    static let vowels: LetterSet = "aeioöuüı"
    private static let highVowels: LetterSet = "iuüı"

    init(_ word: StemWord) { self.word = word }

    // MARK: Endings

    /// Endings with the same meaning.
    private struct Kind {
        let endings: Endings
        /// Whether the vowels before have to fit each other.
        var isHarmonic = true
        /// What may stand between the ending and the word.
        var link = Link.none

        enum Link {
            case none
            /// That letter, behind a vowel.
            case consonant(StemWord.Letter)
            /// A high vowel, behind a consonant.
            case vowel
        }
    }

    private static let possessive = Kind(
        endings: Endings("m n miz niz muz nuz müz nüz mız nız"), isHarmonic: false, link: .vowel)
    private static let sU = Kind(endings: Endings("i u ü ı"), link: .consonant("s"))
    private static let lArI = Kind(endings: Endings("leri ları"), isHarmonic: false)
    private static let yU = Kind(endings: Endings("i u ü ı"), link: .consonant("y"))
    private static let nU = Kind(endings: Endings("ni nu nü nı"))
    private static let nUn = Kind(endings: Endings("in un ün ın"), link: .consonant("n"))
    private static let yA = Kind(endings: Endings("a e"), link: .consonant("y"))
    private static let nA = Kind(endings: Endings("na ne"))
    private static let dA = Kind(endings: Endings("da ta de te"))
    private static let ndA = Kind(endings: Endings("nda nde"))
    private static let dAn = Kind(endings: Endings("dan tan den ten"))
    private static let ndAn = Kind(endings: Endings("ndan nden"))
    private static let ylA = Kind(endings: Endings("la le"), link: .consonant("y"))
    private static let ncA = Kind(endings: Endings("ca ce"), link: .consonant("n"))
    private static let yUm = Kind(endings: Endings("im um üm ım"), link: .consonant("y"))
    private static let sUn = Kind(endings: Endings("sin sun sün sın"))
    private static let yUz = Kind(endings: Endings("iz uz üz ız"), link: .consonant("y"))
    private static let sUnUz = Kind(endings: Endings("siniz sunuz sünüz sınız"), isHarmonic: false)
    private static let lAr = Kind(endings: Endings("lar ler"))
    private static let nUz = Kind(endings: Endings("niz nuz nüz nız"))
    private static let dUr = Kind(endings: Endings("dir tir dur tur dür tür dır tır"))
    private static let cAsInA = Kind(endings: Endings("casına cesine"), isHarmonic: false)
    private static let yDU = Kind(
        endings: Endings(
            """
            di ti dik tik duk tuk dük tük dık tık dim tim dum tum düm tüm dım tım din tin dun tun dün tün dın tın \
            du tu dü tü dı tı
            """), link: .consonant("y"))
    private static let ysA = Kind(
        endings: Endings("sa se sak sek sam sem san sen"), isHarmonic: false, link: .consonant("y"))
    private static let ymUş = Kind(endings: Endings("miş muş müş mış"), link: .consonant("y"))
    private static let yken = Kind(endings: Endings("ken"), isHarmonic: false, link: .consonant("y"))
    private static let ki = Kind(endings: Endings("ki"), isHarmonic: false)

    private static let persons = [sUnUz, lAr, yUm, sUn, yUz]
    private static let harmonies: [StemWord.Letter: LetterSet] = [
        "a": "aıou", "e": "eiöü", "ı": "aı", "i": "ei", "o": "ou", "ö": "öü", "u": "ou", "ü": "öü",
    ]

    /// The letter that many before the place.
    private func letter(_ distance: Int) -> StemWord.Letter? { word.fromEnd(place + distance) }

    /// Whether the last vowel has one before it, anywhere, that it goes with.
    private var isHarmonic: Bool {
        let letters = word.letters.dropLast(place)
        guard let last = letters.lastIndex(where: { Self.vowels.contains($0) }),
            let fitting = Self.harmonies[letters[last]]
        else { return false }
        return letters[..<last].contains { fitting.contains($0) }
    }

    /// Passes over the first of some endings that stands before the place; `false` leaves the place as it was.
    private mutating func pass(_ kinds: Kind...) -> Bool { pass(anyOf: kinds) }

    private mutating func pass(anyOf kinds: [Kind]) -> Bool { kinds.contains { passOne($0) } }

    private mutating func passOne(_ kind: Kind) -> Bool {
        if kind.isHarmonic, !isHarmonic { return false }
        guard let ending = word.ending(kind.endings, before: word.count - place) else { return false }
        let start = place
        place += ending.length
        if passLink(kind.link) { return true }
        place = start
        return false
    }

    private mutating func passLink(_ link: Kind.Link) -> Bool {
        guard let last = letter(0) else {
            if case .none = link { return true }
            return false
        }
        let before = letter(1)
        switch link {
        case .none: return true
        case .consonant(let consonant):
            guard Self.vowels.contains(before) else { return false }
            if last == consonant { place += 1 }
        case .vowel:
            guard let before, !Self.vowels.contains(before) else { return false }
            if Self.highVowels.contains(last) { place += 1 }
        }
        return true
    }

    /// Notes that endings before the place go next.
    private mutating func begin() { mark = place }

    /// Takes off what was passed.
    private mutating func erase() {
        word.letters.removeSubrange(word.count - place..<word.count - mark)
        place = mark
    }

    /// Passes over one of some endings and takes it off, with what was passed since the last ``begin()``.
    private mutating func erase(_ kinds: Kind...) -> Bool {
        guard pass(anyOf: kinds) else { return false }
        erase()
        return true
    }

    /// Does something that may fail in the middle; what was taken off then stays so.
    private mutating func attempt(_ body: (inout Self) -> Bool) -> Bool {
        let start = place
        if body(&self) { return true }
        place = start
        return false
    }

    // MARK: Verbs

    /// Takes off the endings that make verbs of nouns.
    mutating func removeVerbs() {
        place = 0
        begin()
        let isFound =
            pass(Self.ymUş, Self.yDU, Self.ysA, Self.yken)
            || attempt {
                guard $0.pass(Self.cAsInA) else { return false }
                _ = $0.pass(anyOf: Self.persons)
                return $0.pass(Self.ymUş)
            } || removePluralVerb()
            || attempt { $0.pass(Self.nUz) && $0.pass(Self.yDU, Self.ysA) }
            || removePerson() || removeCopula()
        if isFound { erase() }
    }

    private mutating func removePluralVerb() -> Bool {
        guard erase(Self.lAr) else { return false }
        begin()
        _ = pass(Self.dUr, Self.yDU, Self.ysA, Self.ymUş)
        maybeNoun = false
        return true
    }

    private mutating func removePerson() -> Bool {
        guard erase(Self.sUnUz, Self.yUz, Self.sUn, Self.yUm) else { return false }
        begin()
        _ = pass(Self.ymUş)
        return true
    }

    private mutating func removeCopula() -> Bool {
        guard erase(Self.dUr) else { return false }
        begin()
        _ = attempt {
            _ = $0.pass(anyOf: Self.persons)
            return $0.pass(Self.ymUş)
        }
        return true
    }

    // MARK: Nouns

    /// Takes off the endings of a noun: the first of these that fits.
    mutating func removeNouns() {
        place = 0
        _ =
            attempt { $0.removePlural() } || attempt { $0.removeAdverb() }
            || attempt { $0.removeInside() } || attempt { $0.removeOutside() }
            || attempt { $0.removeAblative() } || attempt { $0.removeGenitive() }
            || attempt { $0.start(Self.lArI) } || attempt { $0.removeKi() }
            || attempt { $0.removeCase() } || attempt { $0.removeOwner(Self.possessive, Self.sU) }
    }

    /// Takes off an ending that stands by itself.
    private mutating func start(_ kinds: Kind...) -> Bool {
        begin()
        guard pass(anyOf: kinds) else { return false }
        erase()
        return true
    }

    private mutating func removePlural() -> Bool {
        guard start(Self.lAr) else { return false }
        _ = attempt { $0.removeKi() }
        return true
    }

    /// A plural with what may stand before it.
    private mutating func removePluralAndKi() -> Bool { attempt { $0.start(Self.lAr) && $0.removeKi() } }

    /// Takes off who owns it, with what was passed since the last ``begin()``, and a plural before that.
    private mutating func eraseOwner(_ kinds: Kind...) -> Bool {
        guard pass(anyOf: kinds) else { return false }
        erase()
        _ = removePluralAndKi()
        return true
    }

    private mutating func removeOwner(_ kinds: Kind...) -> Bool {
        begin()
        guard pass(anyOf: kinds) else { return false }
        erase()
        _ = removePluralAndKi()
        return true
    }

    private mutating func removeAdverb() -> Bool {
        guard start(Self.ncA) else { return false }
        _ =
            start(Self.lArI) || removeOwner(Self.possessive, Self.sU)
            || removePluralAndKi()
        return true
    }

    private mutating func removeInside() -> Bool {
        begin()
        guard pass(Self.ndA, Self.nA) else { return false }
        return erase(Self.lArI) || eraseOwner(Self.sU) || removeKi()
    }

    private mutating func removeOutside() -> Bool {
        begin()
        guard pass(Self.ndAn, Self.nU) else { return false }
        return eraseOwner(Self.sU) || pass(Self.lArI)
    }

    private mutating func removeAblative() -> Bool {
        guard start(Self.dAn) else { return false }
        begin()
        _ = eraseOwner(Self.possessive) || removePlural() || attempt { $0.removeKi() }
        return true
    }

    private mutating func removeGenitive() -> Bool {
        guard start(Self.nUn, Self.ylA) else { return false }
        _ = removePluralAndKi() || removeOwner(Self.possessive, Self.sU) || attempt { $0.removeKi() }
        return true
    }

    private mutating func removeCase() -> Bool {
        guard start(Self.dA, Self.yU, Self.yA) else { return false }
        begin()
        _ = attempt {
            if $0.erase(Self.possessive) {
                _ = $0.start(Self.lAr)
            } else if !$0.erase(Self.lAr) {
                return false
            }
            return $0.removeKi()
        }
        return true
    }

    /// Takes off the endings before "ki", which makes an adjective of them.
    private mutating func removeKi() -> Bool {
        begin()
        guard pass(Self.ki) else { return false }
        if erase(Self.dA) {
            begin()
            _ = removePlural() || eraseOwner(Self.possessive)
            return true
        }
        if erase(Self.nUn) {
            _ = start(Self.lArI) || removeOwner(Self.possessive, Self.sU) || attempt { $0.removeKi() }
            return true
        }
        guard pass(Self.ndA) else { return false }
        return erase(Self.lArI) || eraseOwner(Self.sU) || removeKi()
    }
}
