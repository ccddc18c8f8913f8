/// Base64 with the standard alphabet and padding (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet: StaticString =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    private static let padding = UInt8(ascii: "=")

    /// How many characters stand for `count` bytes.
    package static func length(of count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes the text for `data` to `target`, which has room for ``length(of:)`` characters.
    package static func write(_ data: UnsafeRawBufferPointer, to target: UnsafeMutablePointer<UInt8>) {
        let whole = data.count / 3 * 3
        let alphabet = unsafe Base64.alphabet.utf8Start
        var target = unsafe target
        for start in stride(from: 0, to: whole, by: 3) {
            let group = unsafe Int(data[start]) << 16 | Int(data[start + 1]) << 8 | Int(data[start + 2])
            unsafe target[0] = alphabet[group >> 18]
            unsafe target[1] = alphabet[group >> 12 & 63]
            unsafe target[2] = alphabet[group >> 6 & 63]
            unsafe target[3] = alphabet[group & 63]
            unsafe target += 4
        }
        guard whole < data.count else { return }
        let hasTwo = whole + 1 < data.count
        let group = unsafe Int(data[whole]) << 16 | (hasTwo ? Int(data[whole + 1]) << 8 : 0)
        unsafe target[0] = alphabet[group >> 18]
        unsafe target[1] = alphabet[group >> 12 & 63]
        unsafe target[2] = hasTwo ? alphabet[group >> 6 & 63] : padding
        unsafe target[3] = padding
    }

    /// The text for `data`.
    package static func encode(_ data: [UInt8]) -> String {
        let length = length(of: data.count)
        return unsafe String(unsafeUninitializedCapacity: length) { text in
            guard let target = text.baseAddress else { return 0 }
            unsafe data.withUnsafeBytes { unsafe write($0, to: target) }
            return length
        }
    }

    /// The bytes that `text` stands for; `nil` if it is not Base64.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        for (index, byte) in text.enumerated() {
            let isPadding = index >= text.count - padding
            guard let digit = isPadding && byte == Base64.padding ? 0 : value(byte) else { return nil }
            group = group << 6 | UInt32(digit)
            if index % 4 == 3 {
                result += [UInt8(group >> 16 & 0xFF), UInt8(group >> 8 & 0xFF), UInt8(group & 0xFF)]
            }
        }
        result.removeLast(padding)
        return result
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
