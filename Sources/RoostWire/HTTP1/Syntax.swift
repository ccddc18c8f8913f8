/// The grammar of HTTP/1.1 (RFC 9112 and RFC 9110, section 5), read strictly: what two readers could take for different
/// messages is an error.
enum Syntax {
    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The characters of a token: methods and names of fields.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: "!#$%&'*+.^_`|~".utf8.contains(byte)
        }
    }

    static func minorVersion(_ text: ArraySlice<UInt8>) throws(WireError) -> Int {
        if text.elementsEqual("HTTP/1.1".utf8) { return 1 }
        if text.elementsEqual("HTTP/1.0".utf8) { return 0 }
        let isVersion = text.starts(with: "HTTP/".utf8)
        throw WireError(isVersion ? 505 : 400, "The version must be HTTP/1.1 or HTTP/1.0.")
    }

    /// Reads one line of a head or of a trailer.
    static func field(_ line: ArraySlice<UInt8>) throws(WireError) -> (String, String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(isToken)
        else {
            throw WireError(400, "A field is not NAME: VALUE; no spaces may stand before the colon.")
        }
        var value = line[(colon + 1)...]
        while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
        value = value.drop { $0 == 0x20 || $0 == 0x09 }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw WireError(400, "A field has control characters.")
        }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// What the fields say of the length of the body; `nil` where they say nothing.
    static func framing(_ headers: HTTPHeaders, _ minorVersion: Int) throws(WireError) -> BodyFraming? {
        let lengths = headers.all("Content-Length")
        let encodings = headers.all("Transfer-Encoding")
        if !encodings.isEmpty {
            guard lengths.isEmpty, encodings.count == 1, minorVersion == 1 else {
                throw WireError(400, "A length beside a transfer encoding can be understood in two ways.")
            }
            guard HTTPHeaders.areEqual(encodings[0], "chunked") else {
                throw WireError(501, "The only transfer encoding is chunked.")
            }
            return .chunked
        }
        guard let length = lengths.first else { return nil }
        guard lengths.count == 1, (1...18).contains(length.utf8.count), length.utf8.allSatisfy(isDigit),
            let count = UInt64(length)
        else {
            throw WireError(400, "There must be one Content-Length, a number.")
        }
        return .length(count)
    }

    /// The size that the line before a chunk tells; extensions are passed over.
    static func chunkSize(_ line: ArraySlice<UInt8>) throws(WireError) -> UInt64 {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        let rest = line.dropFirst(digits.count)
        guard (1...15).contains(digits.count), digits.allSatisfy(isHexadecimal),
            rest.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            let size = UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
        else {
            throw WireError(400, "The size of a chunk is no hexadecimal number.")
        }
        return size
    }

    static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
