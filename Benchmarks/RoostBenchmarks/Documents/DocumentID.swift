/// A document's ID: 16 lower-case hexadecimal digits, kept as the two words of its bytes.
///
/// IDs are spread evenly over the whole space, as UUIDs are, so that no contender profits from long common
/// prefixes that real IDs do not have.
struct DocumentID {
    static let size = 16

    let first: UInt64
    let second: UInt64

    /// The ID whose digits spell `number`; the order of the bytes is the order of the numbers.
    @inline(__always)
    init(number: UInt64) {
        first = Self.digits(UInt32(truncatingIfNeeded: number >> 32))
        second = Self.digits(UInt32(truncatingIfNeeded: number))
    }

    /// Eight hexadecimal digits as a word whose bytes in memory are the digits in order.
    @inline(__always)
    private static func digits(_ number: UInt32) -> UInt64 {
        var nibbles = UInt64(number)
        nibbles = (nibbles >> 16 | nibbles << 32) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles >> 8 | nibbles << 16) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles >> 4 | nibbles << 8) & 0x0F0F_0F0F_0F0F_0F0F
        let isLetter = ((nibbles &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return (nibbles &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27).littleEndian
    }
}
