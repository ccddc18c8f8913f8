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
