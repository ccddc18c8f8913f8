/// A number in the form that keys have it in, which holds every Int64, UInt64 and Double exactly.
///
/// The magnitude is 74 bits: the eleven of a Double's biased exponent, then 63 of the fraction after the leading one. So
/// magnitudes compare as integers do.
struct OrderedNumber: Hashable {
    /// Never set for zero.
    let isNegative: Bool
    let magnitude: UInt128

    private static let fractionBits = 63

    init(_ value: Int64) { self.init(isNegative: value < 0, value.magnitude) }

    init(_ value: UInt64) { self.init(isNegative: false, value) }

    private init(isNegative: Bool, _ magnitude: UInt64) {
        guard magnitude != 0 else {
            self.isNegative = false
            self.magnitude = 0
            return
        }
        let shift = magnitude.leadingZeroBitCount
        let exponent = UInt128(1023 + 63 - shift)
        let fraction = (magnitude << UInt64(shift)) & (UInt64(1) << 63 - 1)
        self.isNegative = isNegative
        self.magnitude = exponent << UInt128(Self.fractionBits) | UInt128(fraction)
    }

    /// The number; `nil` for one that is none (NaN).
    init?(_ value: Double) {
        guard !value.isNaN else { return nil }
        let bits = value.magnitude.bitPattern
        isNegative = value < 0
        magnitude = UInt128(bits) << UInt128(Self.fractionBits - 52)
    }

    /// A number from a key; `nil` for a magnitude that no number has.
    init?(isNegative: Bool, magnitude: UInt128) {
        guard magnitude >> 74 == 0, !isNegative || magnitude != 0 else { return nil }
        self.isNegative = isNegative
        self.magnitude = magnitude
        guard whole != nil || magnitude & 0x7FF == 0 else { return nil }
    }

    /// The number if it is whole and below 2⁶⁴: whether it is negative, and its magnitude.
    var whole: UInt64? {
        if magnitude == 0 { return 0 }
        let exponent = Int(magnitude >> UInt128(Self.fractionBits)) - 1023
        guard 0...63 ~= exponent else { return nil }
        let significand = UInt64(truncatingIfNeeded: magnitude) | UInt64(1) << 63
        let shift = UInt64(63 - exponent)
        let whole = significand >> shift
        return whole << shift == significand ? whole : nil
    }

    /// The number as a Double: exact unless it is a whole number beyond 2⁵³.
    var double: Double {
        if magnitude & 0x7FF != 0, let whole { return isNegative ? -Double(whole) : Double(whole) }
        let value = Double(bitPattern: UInt64(truncatingIfNeeded: magnitude >> 11))
        return isNegative ? -value : value
    }
}

extension OrderedNumber: Comparable {
    static func < (a: Self, b: Self) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? b.magnitude < a.magnitude : a.magnitude < b.magnitude
    }
}
