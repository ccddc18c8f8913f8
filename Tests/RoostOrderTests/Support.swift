import Fleece
import RoostBytes

@testable import RoostOrder

/// The value of a JSON text.
func value(_ json: String) throws -> FleeceValue { try FleeceDocument(json: json).root }

/// The key of a value.
func key(_ value: FleeceValue, _ collation: Collation) throws -> [UInt8] {
    let encoder = KeyEncoder(collation)
    try encoder.append(value)
    return encoder.key
}

/// How two keys compare: -1, 0 or 1.
func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.withView { a in b.withView { b in a.compare(b).signum() } }
}

/// Calls `body` with a view of the bytes.
func reading(_ bytes: [UInt8], _ body: (ByteView) throws -> Void) throws {
    try bytes.withView { (view) throws(any Error) in try body(view) }
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
