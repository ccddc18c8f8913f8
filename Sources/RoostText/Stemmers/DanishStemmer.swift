/// Snowball's stemmer for Danish.
struct DanishStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyåæø"
    private static let consonants: LetterSet = "bdfgklmnprst"
    private static let beforeS: LetterSet = "'abcdfghjklmnoprtvyzå"
    private static let inflections = Endings(
        """
        hed ethed ered e erede ende erende ene erne ere en heden eren er heder erer heds es endes erendes enes ernes eres ens \
        hedens erens ers ets erets et eret
        """, "s")
    private static let pairs = Endings("gd dt gt kt")
    private static let derivations = Endings("ig lig elig els", "løst")

    func stem(_ word: inout StemWord) {
        guard word.count >= 3 else { return }
        let r1 = word.scandinavianRegion(Self.vowels)
        if let ending = word.ending(Self.inflections, from: r1),
            ending.group == 0 || Self.beforeS.contains(word.fromEnd(1))
        {
            word.removeLast(ending.length)
        }
        shortenPair(&word, r1)
        if word.ends("igst") { word.removeLast(2) }
        if let ending = word.ending(Self.derivations, from: r1) {
            if ending.group == 0 {
                word.removeLast(ending.length)
                shortenPair(&word, r1)
            } else {
                word.removeLast(1)
            }
        }
        if word.count > r1, let last = word.fromEnd(0), Self.consonants.contains(last),
            word.fromEnd(1) == last
        {
            word.removeLast(1)
        }
        if word.ends("'") { word.removeLast(1) }
    }

    private func shortenPair(_ word: inout StemWord, _ r1: Int) {
        if word.ending(Self.pairs, from: r1) != nil { word.removeLast(1) }
    }
}
