/// Paints JSON text for a terminal: keys, strings, numbers, and the three words each in a colour of their own.
enum JSONColours {
    private static let key = "\u{1B}[34m"
    private static let string = "\u{1B}[32m"
    private static let number = "\u{1B}[36m"
    private static let word = "\u{1B}[33m"
    private static let plain = "\u{1B}[0m"

    /// The text, which is well-formed JSON, with the sequences of ISO 6429 for colours.
    static func paint(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var painted: [UInt8] = []
        painted.reserveCapacity(bytes.count * 2)
        var position = 0
        while position < bytes.count {
            let end = tokenEnd(bytes, position)
            let colour = colour(bytes, position, end)
            if let colour { painted += colour.utf8 }
            painted += bytes[position..<end]
            if colour != nil { painted += plain.utf8 }
            position = end
        }
        return String(decoding: painted, as: UTF8.self)
    }

    private static func colour(_ bytes: [UInt8], _ start: Int, _ end: Int) -> String? {
        switch bytes[start] {
        case UInt8(ascii: "\""): end < bytes.count && bytes[end] == UInt8(ascii: ":") ? key : string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): number
        case UInt8(ascii: "a")...UInt8(ascii: "z"): word
        default: nil
        }
    }

    /// Where the token at `start` ends.
    private static func tokenEnd(_ bytes: [UInt8], _ start: Int) -> Int {
        guard bytes[start] == UInt8(ascii: "\"") else {
            guard isPartOfScalar(bytes[start]) else { return start + 1 }
            return bytes[start...].firstIndex { !isPartOfScalar($0) } ?? bytes.count
        }
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }

    private static func isPartOfScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
