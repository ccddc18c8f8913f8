/// Base64 with the standard alphabet and padding (RFC 4648, section 4).
enum Base64 {
    static func append(_ data: UnsafeRawBufferPointer, to output: inout GrowableBuffer<UInt8>) {
        for start in stride(from: 0, to: data.count, by: 3) {
            let count = min(3, data.count - start)
            var group: UInt32 = 0
            for index in 0..<3 {
                group = group << 8 | (index < count ? UInt32(unsafe data[start + index]) : 0)
            }
            for index in 0..<4 {
                let digit = UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * index) & 0x3F)
                output.append(index <= count ? character(digit) : UInt8(ascii: "="))
            }
        }
    }

    static func encode(_ data: [UInt8]) -> String {
        var output = GrowableBuffer<UInt8>(capacity: data.count / 3 * 4 + 4)
        unsafe data.withUnsafeBytes { unsafe append($0, to: &output) }
        return unsafe String(decoding: output.elements, as: UTF8.self)
    }

    /// The bytes that `text` stands for; `nil` if it is not Base64.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        for (index, byte) in text.enumerated() {
            let isPadding = index >= text.count - padding
            guard let digit = isPadding && byte == UInt8(ascii: "=") ? 0 : value(byte) else { return nil }
            group = group << 6 | UInt32(digit)
            if index % 4 == 3 {
                result += [UInt8(group >> 16 & 0xFF), UInt8(group >> 8 & 0xFF), UInt8(group & 0xFF)]
            }
        }
        result.removeLast(padding)
        return result
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        switch digit {
        case 0..<26: UInt8(ascii: "A") + digit
        case 26..<52: UInt8(ascii: "a") + digit - 26
        case 52..<62: UInt8(ascii: "0") + digit - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
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
