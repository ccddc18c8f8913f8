import RoostFile

/// UUIDs (RFC 9562) as bytes and as text.
enum UUIDText {
    /// Sixteen random bytes marked as a version 4 UUID.
    static func random(_ environment: Environment) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        unsafe bytes.withUnsafeMutableBytes { unsafe environment.randomness.fill($0) }
        mark(&bytes, version: 4)
        return bytes
    }

    /// A version 7 UUID: milliseconds since 1970, then randomness. IDs made one after the other stand beside each other
    /// in the tree, which makes inserting them cheap.
    static func timeOrdered(_ environment: Environment) -> String {
        var bytes = random(environment)
        let time = environment.clock.now() / 1000
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: time >> UInt64(40 - 8 * index)) }
        mark(&bytes, version: 7)
        return text(bytes)
    }

    private static func mark(_ bytes: inout [UInt8], version: UInt8) {
        bytes[6] = bytes[6] & 0x0F | version << 4
        bytes[8] = bytes[8] & 0x3F | 0x80
    }

    /// Lowercase hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        let digits = Array("0123456789abcdef".utf8)
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
