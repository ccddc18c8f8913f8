import RoostOrder

extension Collation {
    /// What the options of COLLATE mean: without UNICODE strings compare by bytes, or without regard to the case of ASCII
    /// letters; with it as people expect it.
    init(_ options: CollationOptions) throws(QueryError) {
        let ignoresCase = options.isCaseSensitive == false
        guard options.isUnicode == true else {
            self.init(texts: ignoresCase ? .caselessASCII : .bytes)
            return
        }
        let tailoring = options.locale.flatMap { Tailoring(locale: $0) }
        if tailoring == nil, let locale = options.locale,
            !Self.knownLocales.contains(locale.prefix(2).lowercased())
        {
            throw QueryError(
                "The order of the locale \(locale.debugDescription) is not known; leave the locale away for the order that is right in "
                    + "most languages", at: options.localePlace.offset)
        }
        self.init(
            texts: .unicode(
                UnicodeOrder(
                    ignoringCase: ignoresCase, accents: options.isDiacriticSensitive == false,
                    tailoring: tailoring)))
    }

    /// Languages whose alphabets the root order of Unicode serves.
    private static let knownLocales: Set<String> = [
        "en", "de", "fr", "it", "nl", "pt", "ga", "id", "ms", "sw", "zu", "un", "ro",
    ]
}

extension Function {
    /// Whether it compares texts, so that its value may depend on COLLATE.
    var comparesTexts: Bool {
        switch self {
        case .arrayMin, .arrayMax, .arrayContains, .missingIf, .nullIf, .greatest, .least, .contains,
            .holdsAll, .isAmong:
            true
        default: false
        }
    }
}
