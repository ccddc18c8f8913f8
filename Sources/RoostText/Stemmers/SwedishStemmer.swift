/// Snowball's stemmer for Swedish.
struct SwedishStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyäåö"
    private static let beforeS: LetterSet = "bcdfghjklmnoprtvy"
    private static let beforeOst: LetterSet = "iklnprtuv"
    private static let keptBeforeEt = Endings(
        "fab h pak rak stak kom iet cit dit alit ilit mit nit pit rit sit tit uit ivit kvit xit")
    private static let inflections = Endings(
        """
        a arna erna heterna orna ad e ade ande arne are aste en anden aren heten ern ar er heter or as arnas ernas ornas es \
        ades andes ens arens hetens erns at andet het ast
        """, "s", "et")
    private static let pairs = Endings("dd gd nn dt gt kt tt")
    private static let derivations = Endings("ig lig els", "öst", "fullt")

    func stem(_ word: inout StemWord) {
        guard word.count >= 3 else { return }
        let r1 = max(word.region(Self.vowels), 3)
        removeInflection(&word, r1)
        if word.ending(Self.pairs, from: r1) != nil { word.removeLast(1) }
        guard let ending = word.ending(Self.derivations, from: r1) else { return }
        switch ending.group {
        case 0: word.removeLast(ending.length)
        case 1: if Self.beforeOst.contains(word.fromEnd(3)) { word.removeLast(1) }
        default: word.removeLast(1)
        }
    }

    private func removeInflection(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.inflections, from: r1) else { return }
        switch ending.group {
        case 0: word.removeLast(ending.length)
        case 1:
            if word.ends("ets"), loosesEt(word, before: word.count - 3) {
                word.removeLast(3)
            } else if Self.beforeS.contains(word.fromEnd(1)) {
                word.removeLast(1)
            }
        default: if loosesEt(word, before: word.count - 2) { word.removeLast(2) }
        }
    }

    /// Whether "et" behind the letters before `end` is an ending.
    private func loosesEt(_ word: StemWord, before end: Int) -> Bool {
        end > 2 && !Self.vowels.contains(word.letters[end - 1]) && Self.vowels.contains(word.letters[end - 2])
            && word.ending(Self.keptBeforeEt, before: end) == nil
    }
}
