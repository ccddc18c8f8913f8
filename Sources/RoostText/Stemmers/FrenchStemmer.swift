/// Snowball's stemmer for French.
///
/// Capitals are letters that are no vowels where they stand; an H before e or i is a diaeresis.
struct FrenchStemmer: Stemmer {
    private static let vowels: LetterSet = "aeiouyàâèéêëîïôùû"
    private static let elided: LetterSet = "cdjlmnst"
    private static let beforeOux: LetterSet = "bhjlnp"
    private static let keptBeforeS: LetterSet = "aiosuè"
    private static let derivations = Endings(
        "iqUe ance able isme iste iqUes ances ables ismes istes eux",
        "atrice ation ateur atrices ations ateurs",
        "logie logies",
        "usion ution usions utions",
        "ence ences",
        "ements ement",
        "ités ité",
        "ive if ives ifs",
        "eaux",
        "aux",
        "oux",
        "euse euses",
        "issements issement",
        "amment",
        "emment",
        "ments ment")
    private static let beforeEment = Endings("iv", "eus", "iqU abl", "Ièr ièr")
    private static let beforeIte = Endings("abil", "ic", "iv")
    private static let verbsInIr = Endings(
        """
        ira ie isse issante i irai ir iras ies îmes isses issantes îtes is irais issais irions issions irons \
        issons issants it irait issait issant iraIent issaIent irent issent iront ît iriez issiez irez issez
        """)
    private static let verbs = Endings(
        "ions",
        """
        era ée erai er eras ées eais erais erions erons és erait eraIent èrent eront ez iez eriez erez é
        """,
        "a asse ante ai as âmes asses antes âtes assions ants ait ant aIent assent ât assiez",
        "aise aises ais")
    private static let residues = Endings("ion", "Ière ière Ier ier", "e")
    private static let doubles = Endings("ell eill enn onn ett")

    func stem(_ word: inout StemWord) {
        removeElision(&word)
        markVowels(&word)
        let r1 = word.region(Self.vowels)
        let r2 = word.region(Self.vowels, from: r1)
        let rv = region(of: word)
        if removeDerivation(&word, r1, r2, rv) || removeVerbInIr(&word, rv) || removeVerbEnding(&word, r2, rv)
        {
            if word.ends("Y") { word.replaceLast(1, "i") } else if word.ends("ç") { word.replaceLast(1, "c") }
        } else {
            removeResidue(&word, r2, rv)
        }
        if word.ending(Self.doubles) != nil { word.removeLast(1) }
        removeAccent(&word)
        for (old, new) in [("He", "ë"), ("Hi", "ï"), ("H", ""), ("I", "i"), ("U", "u"), ("Y", "y")]
            as [(Letters, Letters)]
        {
            word.rewrite(old, new)
        }
    }

    // MARK: The beginning

    /// `l'`, `qu'` and the like before a word.
    private func removeElision(_ word: inout StemWord) {
        guard let end = word.letters.firstIndex(of: "'"), end + 1 < word.count else { return }
        if end == 1 && Self.elided.contains(word.letters[0]) || end == 2 && word.begins("qu") {
            word.letters.removeFirst(end + 1)
        }
    }

    private func markVowels(_ word: inout StemWord) {
        var index = 0
        func isVowel(_ index: Int) -> Bool {
            index < word.count && Self.vowels.contains(word.letters[index])
        }
        while index < word.count {
            let next = index + 1
            if isVowel(index), next < word.count {
                switch word.letters[next] {
                case "u" where isVowel(next + 1): word.letters[next] = "U"
                case "i" where isVowel(next + 1): word.letters[next] = "I"
                case "y": word.letters[next] = "Y"
                default: break
                }
            }
            switch word.letters[index] {
            case "ë": word.letters.replaceSubrange(index...index, with: ["H", "e"])
            case "ï": word.letters.replaceSubrange(index...index, with: ["H", "i"])
            case "y" where isVowel(next): word.letters[index] = "Y"
            case "q" where next < word.count && word.letters[next] == "u": word.letters[next] = "U"
            default: break
            }
            index += 1
        }
    }

    /// RV: behind the third letter of words that begin with two vowels and of some others, else behind the next vowel.
    private func region(of word: StemWord) -> Int {
        let isVowel = word.letters.map(Self.vowels.contains)
        if isVowel.count >= 3 {
            if isVowel[0] && isVowel[1] || word.begins("ni") && isVowel[2] { return 3 }
            for beginning in ["col", "par", "tap"] as [Letters] where word.begins(beginning) { return 3 }
        }
        return isVowel.dropFirst().firstIndex(of: true).map { $0 + 1 } ?? word.count
    }

    // MARK: The end

    /// Whether an ending was found that no ending of a verb follows.
    private func removeDerivation(_ word: inout StemWord, _ r1: Int, _ r2: Int, _ rv: Int) -> Bool {
        guard let ending = word.ending(Self.derivations) else { return false }
        let rest = word.count - ending.length
        let before = word.fromEnd(ending.length)
        switch ending.group {
        case 0, 1, 2, 3, 4, 6, 7: guard rest >= r2 else { return false }
        case 5, 13, 14: guard rest >= rv else { return false }
        case 9, 11: guard rest >= r1 else { return false }
        case 10: guard Self.beforeOux.contains(before) else { return false }
        case 12: guard rest >= r1, before != nil, !Self.vowels.contains(before) else { return false }
        case 15: guard rest > rv, Self.vowels.contains(before) else { return false }
        default: break
        }
        let left: [Int: Letters] = [
            2: "log", 3: "u", 4: "ent", 8: "eau", 9: "al", 10: "ou", 11: rest >= r2 ? "" : "eux", 13: "ant",
            14: "ent",
        ]
        word.replaceLast(ending.length, left[ending.group] ?? "")
        switch ending.group {
        case 1: removeIc(&word, r2)
        case 5: removeBeforeEment(&word, r1, r2, rv)
        case 6: removeBeforeIte(&word, r2)
        case 7: if word.remove("at", from: r2) { removeIc(&word, r2) }
        default: break
        }
        return ending.group < 13
    }

    private func removeIc(_ word: inout StemWord, _ r2: Int) {
        if !word.remove("ic", from: r2), word.ends("ic") { word.replaceLast(2, "iqU") }
    }

    private func removeBeforeEment(_ word: inout StemWord, _ r1: Int, _ r2: Int, _ rv: Int) {
        guard let ending = word.ending(Self.beforeEment) else { return }
        let rest = word.count - ending.length
        switch ending.group {
        case 0: if word.remove("iv", from: r2) { word.remove("at", from: r2) }
        case 1: if rest >= r1 { word.replaceLast(3, rest >= r2 ? "" : "eux") }
        case 2: if rest >= r2 { word.removeLast(ending.length) }
        default: if rest >= rv { word.replaceLast(3, "i") }
        }
    }

    private func removeBeforeIte(_ word: inout StemWord, _ r2: Int) {
        guard let ending = word.ending(Self.beforeIte) else { return }
        switch ending.group {
        case 0: word.replaceLast(4, word.count - 4 >= r2 ? "" : "abl")
        case 1: removeIc(&word, r2)
        default: word.remove("iv", from: r2)
        }
    }

    private func removeVerbInIr(_ word: inout StemWord, _ rv: Int) -> Bool {
        guard let ending = word.ending(Self.verbsInIr, from: rv), word.count - ending.length > rv,
            let before = word.fromEnd(ending.length), before != "H", !Self.vowels.contains(before)
        else { return false }
        word.removeLast(ending.length)
        return true
    }

    private func removeVerbEnding(_ word: inout StemWord, _ r2: Int, _ rv: Int) -> Bool {
        guard let ending = word.ending(Self.verbs, from: rv) else { return false }
        let rest = word.count - ending.length
        var length = ending.length
        switch ending.group {
        case 0: guard rest >= r2 else { return false }
        case 1: break
        case 2: if word.ends("e", before: rest, from: rv) { length += 1 }
        default:
            if word.ends("épl", before: rest) || word.ends("auv", before: rest)
                || word.ends("al", before: rest) && rest == 3
            {
                return false
            }
        }
        word.removeLast(length)
        return true
    }

    private func removeResidue(_ word: inout StemWord, _ r2: Int, _ rv: Int) {
        if word.ends("s"), let before = word.fromEnd(1),
            word.ends("Hi", before: word.count - 1) || !Self.keptBeforeS.contains(before)
        {
            word.removeLast(1)
        }
        guard let ending = word.ending(Self.residues, from: rv) else { return }
        let rest = word.count - ending.length
        switch ending.group {
        case 0:
            if rest >= r2, word.ends("s", before: rest, from: rv) || word.ends("t", before: rest, from: rv) {
                word.removeLast(ending.length)
            }
        case 1: word.replaceLast(ending.length, "i")
        default: word.removeLast(ending.length)
        }
    }

    /// Of the last vowel, if consonants follow.
    private func removeAccent(_ word: inout StemWord) {
        guard let last = word.letters.lastIndex(where: { Self.vowels.contains($0) }), last + 1 < word.count,
            word.letters[last] == "é" || word.letters[last] == "è"
        else { return }
        word.letters[last] = "e"
    }
}
