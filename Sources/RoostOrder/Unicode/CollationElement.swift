/// What a character counts on each level of comparison: a collation element of UTS #10.
///
/// Weights are the fractional ones of CLDR's table: a primary is one to four bytes, none of them 00 or 01 and none the
/// beginning of another, so that weights in a row compare as bytes.
struct CollationElement: Hashable, Sendable, BitwiseCopyable {
    /// Up to four bytes, the first in the highest bits; 0 for a character that counts on later levels only.
    let primary: UInt32
    /// One or two bytes, the first in the higher bits; 0 for none.
    let secondary: UInt16
    /// The tertiary weight in the low six bits, the case in the two above it.
    private let third: UInt8

    /// The weight that most characters have on the second and the third level.
    static let common: UInt8 = 0x05

    init(primary: UInt32, secondary: UInt16 = UInt16(common) << 8, third: UInt8 = common) {
        self.primary = primary
        self.secondary = secondary
        self.third = third
    }

    /// The weight of the third level; 0 for none.
    var tertiary: UInt8 { third & 0x3F }

    /// The weight of the level between the second and the third that only capitals count on: common, mixed, upper.
    var letterCase: UInt8 { Self.common + (third >> 6) }

    /// The weight of the third level where capitals come first: upper, mixed, and the others.
    var upperFirstTertiary: UInt8 { tertiary | (2 - min(third >> 6, 2)) << 6 }

    /// ``letterCase`` where capitals come first.
    var upperFirstCase: UInt8 { Self.common + (2 - min(third >> 6, 2)) }

    /// Whether characters with this primary weight may weigh less than the common weight on the third level, as small kana do.
    var mayBeLight: Bool { primary >> 24 == 0x7A }
}
