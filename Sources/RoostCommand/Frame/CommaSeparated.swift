import Fleece

/// Rows as RFC 4180 has them, so that reading them again gives the same values.
enum CommaSeparated {
    static let lineEnd = "\r\n"

    /// The fields of a row. One empty field alone is quoted: a line of nothing would be no row.
    static func row(_ fields: [String], separator: String = ",") -> String {
        fields == [""] ? "\"\"" : fields.joined(separator: separator)
    }

    /// A text: in quotation marks where it has separators, ends of lines or quotation marks in it, or could be taken for a number,
    /// for true or false, or for nothing.
    static func field(_ text: String) -> String {
        let bytes = Array(text.utf8)[...]
        let isPlain =
            !bytes.isEmpty && !text.unicodeScalars.contains(where: isSpecial)
            && bytes.first != UInt8(ascii: " ")
            && bytes.last != UInt8(ascii: " ") && !FieldText.isNumber(bytes) && !FieldText.isBool(bytes)
        return isPlain ? text : quoted(text)
    }

    /// A text in quotation marks.
    static func quoted(_ text: String) -> String {
        // By scalars: a mark that a combining character follows is a mark.
        var quoted = "\"".unicodeScalars
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted.append(scalar) }
            quoted.append(scalar)
        }
        return String(quoted) + "\""
    }

    private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ",", ";", "\t", "\"", "\r", "\n", "\u{85}", "\u{2028}", "\u{2029}": true
        default: false
        }
    }

    /// A value: text as it is, everything else as JSON; nothing for what is not there and for null.
    static func field(_ value: FleeceValue) -> String {
        guard value.exists, !value.isNull else { return "" }
        if let text = value.string { return field(text) }
        let json = value.json()
        return json.utf8.contains { ",\"".utf8.contains($0) } ? quoted(json) : json
    }
}
