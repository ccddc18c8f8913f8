/// The order of texts for people: the Unicode Collation Algorithm (UTS #10) over CLDR's root collation, of Unicode 14,
/// punctuation not ignored, as CouchDB orders them with ICU, or that of a language.
package struct UnicodeOrder: Hashable, Sendable {
    /// Whether letters that differ in case only are the same.
    package var ignoresCase: Bool
    /// Whether letters that differ in accents only are the same.
    package var ignoresAccents: Bool

    /// The language whose rules hold; `nil` for the root collation.
    package var tailoring: Tailoring?

    package init(
        ignoringCase ignoresCase: Bool = false, accents ignoresAccents: Bool = false,
        tailoring: Tailoring? = nil
    ) {
        self.ignoresCase = ignoresCase
        self.ignoresAccents = ignoresAccents
        self.tailoring = tailoring
    }

    /// Names the order in whatever is kept by it: equal texts order alike for ever.
    package var signature: String {
        "unicode-\(CollationData.version)" + (ignoresCase ? ";nocase" : "")
            + (ignoresAccents ? ";noaccents" : "") + (tailoring.map { ";\($0.rawValue)" } ?? "")
    }
}

// MARK: - Tailoring

/// What a language orders otherwise than CLDR's root collation, by CLDR's rules of version 41.
package enum Tailoring: String, Hashable, Sendable, CaseIterable {
    case czech = "cs"
    case danish = "da"
    /// German as in phone books, ä as ae; German dictionaries have the root's order.
    case germanPhonebook = "de-phonebook"
    case spanish = "es"
    /// Spanish with ch and ll as letters.
    case spanishTraditional = "es-traditional"
    case estonian = "et"
    case finnish = "fi"
    case hungarian = "hu"
    case icelandic = "is"
    case norwegian = "nb"
    case polish = "pl"
    case slovak = "sk"
    case swedish = "sv"
    case turkish = "tr"

    /// The tailoring of a locale such as `sv`, `sv_SE`, `nn-NO` or `de@collation=phonebook`; `nil` for one that has the
    /// root's order, or no rules here.
    package init?(locale: String) {
        let parts = locale.lowercased().split { !$0.isLetter }.map(String.init)
        let isOf = { (kinds: [String]) in parts.dropFirst().contains(where: kinds.contains) }
        switch parts.first {
        case "de": if isOf(["phonebook", "phonebk"]) { self = .germanPhonebook } else { return nil }
        case "es": self = isOf(["traditional", "trad"]) ? .spanishTraditional : .spanish
        case "no", "nn", "nb": self = .norwegian
        default:
            guard let language = parts.first.flatMap(Self.init(rawValue:)) else { return nil }
            self = language
        }
    }

    /// Texts that have elements of their own, decomposed, and what they are.
    struct Rules: Sendable {
        let elements: [(scalars: [UInt32], elements: [CollationElement])]
        /// Whether capitals come first.
        let isUpperFirst: Bool
    }

    /// The rules of all tailorings, read once.
    static let rules: [Tailoring: Rules] = {
        var reader = CollationDataReader(TailoringData.deflated, length: TailoringData.length)
        var rules: [Tailoring: Rules] = [:]
        for _ in 0..<reader.number() {
            let name = String(decoding: (0..<reader.number()).map { _ in reader.byte() }, as: UTF8.self)
            guard let tailoring = Tailoring(rawValue: name) else {
                preconditionFailure("a tailoring without a name")
            }
            let isUpperFirst = reader.number() == 1
            let elements = (0..<reader.number()).map { _ in
                let scalars = (0..<reader.number()).map { _ in reader.number() }
                let elements = (0..<reader.number()).map { _ in
                    CollationElement(
                        primary: reader.number() << 8, secondary: UInt16(reader.number()),
                        third: UInt8(reader.number()))
                }
                return (scalars: scalars, elements: elements)
            }
            rules[tailoring] = Rules(elements: elements, isUpperFirst: isUpperFirst)
        }
        return rules
    }()
}
