/// Some bytes of a file and what they mean.
package struct FileField: Hashable, Sendable {
    /// Where they stand: in the file, or in the payload as it is after decryption and decompression.
    package let offset: UInt64
    /// How many they are.
    package let length: Int
    /// The first of them, at most ``shownLength``.
    package let bytes: [UInt8]
    /// What they mean, in the words of FileFormat.md.
    package let meaning: String
    /// What else there is to know, such as the whole key of an entry.
    package var note: String?
    /// Whether ``offset`` counts in a decoded payload.
    package let isDecoded: Bool

    /// The most bytes that a field keeps.
    package static let shownLength = 16
    /// Fields whose bytes are often text.
    private static let texts: Set = [
        "name", "rest of the key", "inline bytes", "prefix", "value", "rest of the suffix",
        "rest of the inline bytes",
    ]

    /// The field in a line: offset, bytes, meaning, as in FileFormat.md's worked example.
    package var line: String {
        var shown = bytes.map { FileField.hexadecimal(UInt64($0), width: 2) }.joined(separator: " ")
        var meaning = meaning
        if length > FileField.shownLength {
            shown += " … (\(length) bytes)"
        } else if FileField.texts.contains(meaning) {
            meaning += " \(FileField.quoted(bytes))"
        }
        let gap = String(repeating: " ", count: max(0, 23 - shown.count))
        let place = (isDecoded ? "+" : "") + FileField.hexadecimal(offset, width: isDecoded ? 5 : 6)
        return "\(place)  \(shown)\(gap)  \(meaning)" + (note.map { "  (\($0))" } ?? "")
    }

    /// `value` in hexadecimal, with zeros before it up to `width` digits.
    package static func hexadecimal(_ value: UInt64, width: Int = 1) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// `bytes` as text between quotation marks; what is not printable ASCII is escaped as in JSON.
    package static func quoted(_ bytes: some Sequence<UInt8>) -> String {
        var text = "\""
        for byte in bytes {
            switch byte {
            case 0x22, 0x5c: text += "\\" + String(UnicodeScalar(byte))
            case 0x08: text += "\\b"
            case 0x09: text += "\\t"
            case 0x0a: text += "\\n"
            case 0x0c: text += "\\f"
            case 0x0d: text += "\\r"
            case 0x20..<0x7f: text += String(UnicodeScalar(byte))
            case 0x80...: text += "\\ufffd"
            default: text += "\\u" + hexadecimal(UInt64(byte), width: 4)
            }
        }
        return text + "\""
    }
}

/// A part of a file, field by field.
package struct FileSection: Sendable {
    /// What it is, as a heading.
    package let title: String
    /// Where it is in the file.
    package let range: Range<UInt64>
    /// Its fields by their place.
    package var fields: [FileField] = []
    /// What is wrong with it, as sentences.
    package var problems: [String] = []
}
