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
        // Not generic from here on: what another module calls is not specialised, and slow byte by byte.
        let found = text.withContiguousStorageIfAvailable { unsafe decode($0) }
        if let found { return found }
        return unsafe Array(text).withUnsafeBufferPointer { unsafe decode($0) }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard !text.isEmpty else { return [] }
        let padding = unsafe text.suffix(2).count { $0 == Self.padding }
        var isValid = true
        var result = unsafe [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { target, count in
            count = target.count
            for group in 0..<text.count / 4 {
                let isLast = group == text.count / 4 - 1
                var bits: UInt32 = 0
                for place in 0..<4 {
                    let byte = unsafe text[group * 4 + place]
                    let isPadding = isLast && place >= 4 - padding && byte == Self.padding
                    let digit = isPadding ? 0 : value(byte)
                    isValid = isValid && digit < 64
                    bits = bits << 6 | UInt32(digit & 63)
                }
                unsafe target[group * 3] = UInt8(bits >> 16)
                unsafe target[group * 3 + 1] = UInt8(bits >> 8 & 0xFF)
                unsafe target[group * 3 + 2] = UInt8(bits & 0xFF)
            }
        }
        guard isValid else { return nil }
        result.removeLast(padding)
        return result
    }

    /// What a character stands for; 64 for one that is none of the alphabet.
    private static func value(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: 64
        }
    }
}
