/// The order in which an object's members stand in a JSON text, which the parsed value does not keep.
///
/// Bodies of a multipart document belong to its attachments in that order (CouchDB's API, "multipart/related").
enum MemberOrder {
    /// The names of the members of the object under the top-level member `name`; none where there is no such object. O(n).
    ///
    /// - Parameter text: JSON that has been parsed without an error.
    static func names(under name: String, in text: [UInt8]) -> [String] {
        var scanner = Scanner(text: text)
        var found: [String] = []
        scanner.eachMember { scanner, key in
            guard key == name else { return }
            scanner.eachMember { _, key in found.append(key) }
        }
        return found
    }

    /// The names of the members of the object that `text` is; none where it is something else. O(n).
    ///
    /// - Parameter text: JSON that has been parsed without an error.
    static func names(in text: [UInt8]) -> [String] {
        var scanner = Scanner(text: text)
        var found: [String] = []
        scanner.eachMember { _, key in found.append(key) }
        return found
    }

    private struct Scanner {
        let text: [UInt8]
        var index = 0

        private var byte: UInt8 { index < text.count ? text[index] : 0 }

        /// Calls `body` at the value of each member of the object that is next; what it does not read is passed over.
        mutating func eachMember(_ body: (inout Scanner, String) -> Void) {
            skipSpace()
            guard byte == UInt8(ascii: "{") else { return }
            index += 1
            while true {
                skipSpace()
                guard byte == UInt8(ascii: "\"") else { break }
                let start = index
                skipValue()
                let key = try? FleeceText.string(text[start..<index])
                skipSpace()
                index += 1
                let value = index
                body(&self, key ?? "")
                index = value
                skipValue()
                skipSpace()
                guard byte == UInt8(ascii: ",") else { break }
                index += 1
            }
        }

        private mutating func skipSpace() {
            while [0x20, 10, 13, 9].contains(byte) { index += 1 }
        }

        private mutating func skipValue() {
            skipSpace()
            var depth = 0
            repeat {
                switch byte {
                case UInt8(ascii: "\""):
                    index += 1
                    while index < text.count, byte != UInt8(ascii: "\"") {
                        index += byte == UInt8(ascii: "\\") ? 2 : 1
                    }
                    index += 1
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    index += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    index += 1
                case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 10, 13, 9: index += 1
                default: while index < text.count, !Self.ends(byte) { index += 1 }
                }
            } while depth > 0 && index < text.count
        }

        private static func ends(_ byte: UInt8) -> Bool {
            byte <= 0x20 || ",:]}".utf8.contains(byte)
        }
    }
}
