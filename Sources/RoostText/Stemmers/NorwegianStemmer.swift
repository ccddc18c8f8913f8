/// Snowball's stemmer for Norwegian: Bokmål, and much of Nynorsk.
struct NorwegianStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyåæêòóôø"
    private static let beforeS: LetterSet = "bcdfghjlmnoptvyz"
    private static let inflections = Endings(
        """
        a e ede ande ende ane ene hetene en heten ar er heter as es edes endes enes hetenes ens hetens ets et het ast
        """, "ers", "s", "erte ert")
    private static let keptBeforeErs = Endings("ind kk nk amm omm kap pp lt ast øst v", "skap hav giv")
    private static let pairs = Endings("dt vt")
    private static let derivations = Endings("leg eleg ig eig lig elig els lov elov slov hetslov")

    func stem(_ word: inout StemWord) {
        let r1 = word.scandinavianRegion(Self.vowels)
        removeInflection(&word, r1)
        if word.ending(Self.pairs, from: r1) != nil { word.removeLast(1) }
        if let ending = word.ending(Self.derivations, from: r1) { word.removeLast(ending.length) }
        if word.ends("'") { word.removeLast(1) }
    }

    private func removeInflection(_ word: inout StemWord, _ r1: Int) {
        guard let ending = word.ending(Self.inflections, from: r1) else { return }
        switch ending.group {
        case 0: break
        case 1: guard word.ending(Self.keptBeforeErs, before: word.count - 3)?.group != 0 else { return }
        case 2: guard isEndingS(word) else { return }
        default:
            word.replaceLast(ending.length, "er")
            return
        }
        word.removeLast(ending.length)
    }

    private func isEndingS(_ word: StemWord) -> Bool {
        switch word.fromEnd(1) {
        case "r": word.fromEnd(2) != "e"
        case "k": word.fromEnd(2).map { !Self.vowels.contains($0) } ?? false
        case let letter: Self.beforeS.contains(letter)
        }
    }
}

extension StemWord {
    /// R1 of the Scandinavian languages: behind an apostrophe, or as elsewhere, but at least three letters from the beginning.
    func scandinavianRegion(_ vowels: LetterSet) -> Int {
        guard count >= 3 else { return count }
        return max(letters.firstIndex(of: "'").map { $0 + 1 } ?? region(vowels), 3)
    }
}
