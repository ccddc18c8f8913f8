/// A language whose forms of a word are recognised.
public enum TextLanguage: String, Sendable, Hashable, CaseIterable, Codable {
    case danish = "da"
    case dutch = "nl"
    case english = "en"
    case finnish = "fi"
    case french = "fr"
    case german = "de"
    case hungarian = "hu"
    case italian = "it"
    /// Takes particles off nouns.
    case korean = "ko"
    case norwegian = "no"
    case portuguese = "pt"
    case romanian = "ro"
    case russian = "ru"
    case spanish = "es"
    case swedish = "sv"
    /// Takes I for the capital of ı, and İ for that of i.
    case turkish = "tr"

    /// The language of a code of ISO 639 (`de`), a tag that begins with one (`de-AT`), or an English name (`german`), in any case;
    /// `nil` for another one.
    public init?(_ name: String) {
        let name = name.lowercased()
        let code = name.prefix { $0 != "-" && $0 != "_" }
        let found = Self.allCases.first { $0.rawValue == code || "\($0)" == name }
        guard let language = found ?? (code == "nb" || code == "nn" ? .norwegian : nil) else { return nil }
        self = language
    }

    /// Whether its stemmer knows letters with accents. Words that one without them has from elsewhere are stemmed as they are
    /// typed: *résumé* as *resume*.
    var hasAccents: Bool { self != .english }

    /// How words of the language are stemmed.
    var stemmer: any Stemmer {
        switch self {
        case .danish: DanishStemmer()
        case .dutch: DutchStemmer()
        case .english: EnglishStemmer()
        case .finnish: FinnishStemmer()
        case .french: FrenchStemmer()
        case .german: GermanStemmer()
        case .hungarian: HungarianStemmer()
        case .italian: ItalianStemmer()
        case .korean: KoreanStemmer()
        case .norwegian: NorwegianStemmer()
        case .portuguese: PortugueseStemmer()
        case .romanian: RomanianStemmer()
        case .russian: RussianStemmer()
        case .spanish: SpanishStemmer()
        case .swedish: SwedishStemmer()
        case .turkish: TurkishStemmer()
        }
    }
}
