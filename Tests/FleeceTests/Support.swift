import Fleece

/// The bytes as hexadecimal digits in groups of two bytes, as the specification's examples show them.
func hex(_ bytes: some Collection<UInt8>) -> String {
    bytes.enumerated().reduce(into: "") { text, element in
        if element.offset > 0, element.offset % 2 == 0 { text += " " }
        let digits = String(element.element, radix: 16, uppercase: true)
        text += digits.utf8.count == 1 ? "0" + digits : digits
    }
}

/// The bytes that hexadecimal digits stand for; everything else in the text is skipped.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// One body, written by `body`.
func written(sharedKeys: SharedKeys? = nil, _ body: (inout FleeceWriter) throws -> Void) throws -> [UInt8] {
    var writer = FleeceWriter(sharedKeys: sharedKeys)
    try body(&writer)
    return try writer.finish()
}

/// The body for a JSON text.
func converted(_ json: String, sharedKeys: SharedKeys? = nil) throws -> [UInt8] {
    try written(sharedKeys: sharedKeys) { try $0.write(json: json) }
}

/// The root of a body that is validated first.
func root(_ bytes: [UInt8], sharedKeys: SharedKeys? = nil) throws -> FleeceValue {
    try FleeceDocument(validating: bytes, sharedKeys: sharedKeys).root
}

/// What a closure throws, which is a `FleeceError`.
func failure(_ body: () throws -> Void) -> FleeceError? {
    do {
        try body()
        return nil
    } catch {
        return error as? FleeceError
    }
}

/// Numbers that look random and are the same in every run (SplitMix64, Steele, Lea and Flood 2014).
struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
