/// Percent-encoding (RFC 3986, section 2.1).
public enum PercentEncoding {
    /// The text that `text` stands for; `nil` for a broken escape and for what is no UTF-8.
    ///
    /// - Parameter plusIsSpace: Whether `+` stands for a space, as in a query.
    public static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        // Not generic from here on: what another module calls is not specialised, and slow byte by byte.
        decode(String(text), plusIsSpace)
    }

    private static func decode(_ text: String, _ plusIsSpace: Bool) -> String? {
        let isPlain = text.utf8.allSatisfy { byte in
            byte != UInt8(ascii: "%") && !(plusIsSpace && byte == UInt8(ascii: "+"))
        }
        if isPlain { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// `text` as it may stand in one part of a path or of a query: everything but letters, digits and `-._~` encoded.
    public static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The parameters of a query, `a=1&b=2`, or of a form.
public struct QueryParameters: Sendable, Equatable {
    /// All of them; of a name that occurs twice, the last.
    public private(set) var values: [String: String] = [:]

    /// No parameters.
    public init() {}

    /// Reads the text after the question mark.
    ///
    /// - Throws: ``WireError`` 400 for a broken escape.
    public init(_ text: some StringProtocol) throws(WireError) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(parts[0], plusIsSpace: true),
                let value = PercentEncoding.decode(parts.count > 1 ? parts[1] : "", plusIsSpace: true)
            else {
                throw WireError(400, "The query has a broken percent escape.")
            }
            values[name] = value
        }
    }

    /// The last value given for a name.
    public subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }
}
