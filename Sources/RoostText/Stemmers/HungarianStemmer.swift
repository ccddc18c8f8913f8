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
