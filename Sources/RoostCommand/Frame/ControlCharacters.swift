/// Characters that a terminal obeys instead of showing them.
enum ControlCharacters {
    static func contains(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value
    }

    /// The text with control characters as JSON escapes them (`\u001b`), except line ends and tabs.
    static func escaped(in text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isUnsafe(scalar) {
                result.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// How JSON writes a control character that has no shorter form.
    static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\n" && scalar != "\t" && contains(scalar)
    }
}
