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
