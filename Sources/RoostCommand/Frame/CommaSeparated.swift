import Fleece

/// Rows as RFC 4180 has them.
enum CommaSeparated {
    static let lineEnd = "\r\n"

    /// The fields of a row. One empty field alone is quoted: a line of nothing would be no row.
    static func row(_ fields: [String]) -> String { fields == [""] ? "\"\"" : fields.joined(separator: ",") }

    static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { ",\"\r\n".utf8.contains($0) }
        guard needsQuotes else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }

    /// Nothing for what is not there and for null.
    static func field(_ value: FleeceValue) -> String {
        guard value.exists, !value.isNull else { return "" }
        return field(value.string ?? value.json())
    }
}
