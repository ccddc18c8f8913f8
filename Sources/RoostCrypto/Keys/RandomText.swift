/// Random names, from the system's generator.
package enum RandomText {
    /// As many random bytes, as lowercase hexadecimal digits.
    package static func hexadecimal(bytes count: Int) -> String { text(SystemRandom.bytes(count: count)) }

    /// Bytes as lowercase hexadecimal digits.
    package static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The bytes that hexadecimal digits stand for; `nil` for anything else.
    package static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard digits[index] != UInt8(ascii: "+"), digits[index] != UInt8(ascii: "-"),
                let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
