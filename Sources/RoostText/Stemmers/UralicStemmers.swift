/// Snowball's stemmer for Finnish.
struct FinnishStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyäö"
    private static let consonants: LetterSet = "bcdfghjklmnpqrstvwxz"
    private static let beforeParticles: LetterSet = "aeiouyäönt"
    private static let shortVowels: LetterSet = "aeiä"
    private static let particles = Endings("pa kaan han kin hän kään ko pä kö", "sti")
    private static let possessives = Endings("si", "ni", "nsa nsä mme nne", "an", "än", "en")
    /// The cases before "an", "än" and "en", in this order.
    private static let beforePossessives = [
        Endings("lla na ssa ta lta sta"), Endings("llä nä ssä tä ltä stä"), Endings("lle ine"),
    ]
    private static let longVowels = Endings("aa ee ii oo uu ää öö")
    private static let plurals = Endings("' ai ei ii oi ui äi öi")
    private static let cases = Endings(
        "n", "a ä", "tta ttä", "lla llä na nä ssa ssä ta tä lta ltä sta stä lle ine ksi")
    /// Endings that follow a certain vowel, a plural's, or a long one.
    private static let casesByVowel = Endings("han hen hin hon hun hän hön", "den tten siin", "seen")
    private static let comparisonsBeforeT = Endings("mma", "imma")
    private static let comparisons = Endings(
        "mma mmä mpa mpä mmi mpi", "imma immä impa impä immi impi eja ejä")

    func stem(_ word: inout StemWord) {
        let r1 = word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: r1)
        removeParticle(&word, r1, r2)
        removePossessive(&word, r1)
        let hadCase = removeCase(&word, r1)
        removeComparison(Self.comparisons, &word, r2)
        if hadCase {
            if word.ends("i", from: r1) || word.ends("j", from: r1) { word.removeLast(1) }
        } else if word.ends("t", from: r1), word.count >= r1 + 2, Self.vowels.contains(word.fromEnd(1)) {
            word.removeLast(1)
            removeComparison(Self.comparisonsBeforeT, &word, r2)
        }
        tidyUp(&word, r1)
    }

    private func removeParticle(_ word: inout StemWord, _ r1: Int, _ r2: Int) {
        guard let ending = word.ending(Self.particles, from: r1) else { return }
        let isRemoved =
            ending.group == 0
            ? Self.beforeParticles.contains(word.fromEnd(ending.length)) : word.count - ending.length >= r2
        if isRemoved { word.removeLast(ending.length) }
    }

    private func removePossessive(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.possessives, from: r1) else { return }
        let rest = word.count - ending.length
        switch ending.group {
        case 0: if word.fromEnd(ending.length) != "k" { word.removeLast(ending.length) }
        case 1:
            word.removeLast(ending.length)
            if word.ends("kse") { word.replaceLast(1, "i") }
        case 2: word.removeLast(ending.length)
        default:
            if word.ending(Self.beforePossessives[ending.group - 3], before: rest) != nil {
                word.removeLast(ending.length)
            }
        }
    }

    /// Whether an ending of a case was there.
    private func removeCase(_ word: inout StemWord, _ r1: Int) -> Bool {
        if let ending = word.ending(Self.casesByVowel, from: r1), follows(ending, word, r1) {
            word.removeLast(ending.length)
            return true
        }
        guard let ending = word.ending(Self.cases, from: r1) else { return false }
        let rest = word.count - ending.length
        var length = ending.length
        switch ending.group {
        case 0:
            if word.ending(Self.longVowels, before: rest) != nil || word.ends("ie", before: rest) {
                length += 1
            }
        case 1:
            guard Self.vowels.contains(word.fromEnd(1)), Self.consonants.contains(word.fromEnd(2)) else {
                return false
            }
        case 2: guard word.ends("e", before: rest) else { return false }
        default: break
        }
        word.removeLast(length)
        return true
    }

    /// Whether an ending of ``casesByVowel`` stands behind such vowels.
    private func follows(_ ending: (length: Int, group: Int), _ word: StemWord, _ r1: Int) -> Bool {
        let rest = word.count - ending.length
        switch ending.group {
        case 0:
            guard rest > r1, let before = word.fromEnd(ending.length) else { return false }
            let vowel = word.fromEnd(1)
            return before == vowel || before == "'" || vowel == "ö" && before == "ø"
        case 1: return word.ending(Self.plurals, from: r1, before: rest) != nil
        default: return word.ending(Self.longVowels, from: r1, before: rest) != nil
        }
    }

    private func removeComparison(_ endings: Endings, _ word: inout StemWord, _ r2: Int) {
        guard let ending = word.ending(endings, from: r2) else { return }
        if ending.group == 0, word.ends("po", before: word.count - ending.length) { return }
        word.removeLast(ending.length)
    }

    private func tidyUp(_ word: inout StemWord, _ r1: Int) {
        guard word.count >= r1 else { return }
        if word.ending(Self.longVowels, from: r1) != nil { word.removeLast(1) }
        if word.count >= r1 + 2, Self.shortVowels.contains(word.fromEnd(0)),
            Self.consonants.contains(word.fromEnd(1))
        {
            word.removeLast(1)
        }
        if word.ends("oj", from: r1) || word.ends("uj", from: r1) { word.removeLast(1) }
        if word.ends("jo", from: r1) { word.removeLast(1) }
        if let last = word.letters.lastIndex(where: { !Self.vowels.contains($0) }), last > 0,
            Self.consonants.contains(word.letters[last]), word.letters[last - 1] == word.letters[last]
        {
            word.letters.remove(at: last)
        }
        word.remove("'", from: 0)
    }
}

// MARK: - Hungarian stemmer

/// Snowball's stemmer for Hungarian, which takes the endings of nouns off.
struct HungarianStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouáéíóöőúüű"
    private static let doubles = Endings(
        "bb cc dd ff gg jj kk ll mm nn pp rr ccs ss zzs tt vv ggy lly nny tty ssz zz")
    private static let instrumentals = Endings("al el")
    private static let cases = Endings(
        """
        ba ra be re ig nak nek val vel ul nál nél ból ról tól ül ből ről től n an ban en ben képpen on ön \
        képp kor t at et ként anként enként onként ot ért öt hez hoz höz vá vé
        """)
    private static let longVowels = Endings("á", "é")
    private static let factives = Endings("á é")
    /// Endings that are taken off in this order, each with what a group of them leaves.
    private static let shortened: [(endings: Endings, left: [Letters])] = [
        (Endings("én", "án ánként"), ["e", "a"]),
        (Endings("stul astul stül estül", "ástul", "éstül"), ["", "a", "e"]),
    ]
    private static let owned: [(endings: Endings, left: [Letters])] = [
        (Endings("éi é ké aké eké oké öké", "ééi éké éé", "áéi áké"), ["", "e", "a"]),
        (
            Endings(
                "a ja d ad ed od öd e je nk unk ünk uk juk ük jük m am em om o",
                "ád ánk ájuk ám á",
                "éd énk éjük ém é"), ["", "a", "e"]
        ),
        (
            Endings(
                """
                id aid jaid eid jeid i ai jai ei jei itek eitek jeitek ik aik jaik eik jeik ink aink jaink eink \
                jeink aitok jaitok im aim jaim eim jeim
                """,
                "áid ái áik áink áitok áim",
                "éid éi éitek éik éink éim"), ["", "a", "e"]
        ),
        (Endings("ák", "ék", "k ak ek ok ök"), ["a", "e", ""]),
    ]

    func stem(_ word: inout StemWord) {
        let r1 = region(of: word)
        removeAfterDouble(Self.instrumentals, &word, r1)
        if let ending = word.longestEnding(Self.cases, notBefore: r1) {
            word.removeLast(ending.length)
            replace(Self.longVowels, ["a", "e"], &word, r1)
        }
        for step in Self.shortened { replace(step.endings, step.left, &word, r1) }
        removeAfterDouble(Self.factives, &word, r1)
        for step in Self.owned { replace(step.endings, step.left, &word, r1) }
    }

    /// Behind the first consonant of a word that begins with a vowel, and behind the first vowel of another one.
    private func region(of word: StemWord) -> Int {
        guard let first = word.letters.first else { return 0 }
        let beginsWithVowel = Self.vowels.contains(first)
        let found = word.letters.firstIndex { Self.vowels.contains($0) != beginsWithVowel }
        return found.map { $0 + 1 } ?? word.count
    }

    private func replace(_ endings: Endings, _ left: [Letters], _ word: inout StemWord, _ r1: Int) {
        guard let ending = word.longestEnding(endings, notBefore: r1) else { return }
        word.replaceLast(ending.length, left[ending.group])
    }

    /// Takes an ending off that doubles the consonant before it, which then is a single one again.
    private func removeAfterDouble(_ endings: Endings, _ word: inout StemWord, _ r1: Int) {
        guard let ending = word.longestEnding(endings, notBefore: r1),
            word.ending(Self.doubles, before: word.count - ending.length) != nil
        else { return }
        word.removeLast(ending.length)
        word.letters.remove(at: word.count - 2)
    }
}
