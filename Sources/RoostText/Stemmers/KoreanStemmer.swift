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
