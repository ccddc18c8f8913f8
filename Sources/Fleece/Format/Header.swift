/// The first two bytes of a value, big-endian: its type in the upper four bits, its size or content below.
///
/// The layout is that of the Fleece specification (`Fleece.md` of couchbase/fleece):
///
/// | bits                  | meaning                                                               |
/// |-----------------------|-----------------------------------------------------------------------|
/// | `0000iiii iiiiiiii`   | integer of 12 bits, signed                                            |
/// | `0001uccc` …          | integer of c + 1 bytes, little-endian, unsigned if u                  |
/// | `0010s--- --------` … | float (s = 0) or double (s = 1), little-endian                        |
/// | `0011ss-- --------`   | null, false, true, undefined                                          |
/// | `0100cccc` …          | string of c bytes; if c is 15, a varint with the length comes first   |
/// | `0101cccc` …          | data, the same                                                        |
/// | `0110wccc cccccccc` … | array of c items, 4 bytes each if w, else 2; if c is 2047, a varint   |
/// |                       | with the items beyond 2047 follows, padded to an even length          |
/// | `0111wccc cccccccc` … | dictionary, the same with a key and a value for every item            |
/// | `1ooooooo oooooooo` … | pointer, o units of two bytes back; 31 bits of o in wide collections  |
struct Header: Equatable {
    /// The upper four bits of a header.
    enum Tag: UInt16 {
        case smallInteger, integer, float, special, string, data, array, dictionary
    }

    var bits: UInt16

    static let null = Header(bits: 0x3000)
    static let `false` = Header(bits: 0x3400)
    static let `true` = Header(bits: 0x3800)
    static let undefined = Header(bits: 0x3C00)
    static let float = Header(bits: 0x2000)
    static let double = Header(bits: 0x2800)

    /// The bit that marks a collection with items of four bytes.
    static let wideFlag: UInt16 = 0x0800
    /// The item count from which on a varint follows the header.
    static let longCount = 0x07FF
    /// The string length from which on a varint follows the tag.
    static let longLength = 15
    /// What a narrow pointer may span. The specification allows 65534; newer readers of the format take
    /// the top bit of the offset for a flag, so half of it is what everybody reads.
    static let narrowReach = 0x7FFE
    /// The dictionary key that stands for "inherits from", used only in delta-compressed bodies.
    static let inheritanceKey = Header(bits: 0x0800)

    var isPointer: Bool { bits & 0x8000 != 0 }

    /// The type, `nil` for a pointer.
    @inline(__always)
    var tag: Tag? {
        // Asked for each value that is read, and `init(rawValue:)` is a call. There is a tag for every number of three bits.
        isPointer ? nil : unsafe unsafeBitCast(UInt8(truncatingIfNeeded: bits >> 12), to: Tag.self)
    }

    var isCollection: Bool { bits & 0xE000 == 0x6000 }

    /// The 12-bit integer of a ``Tag/smallInteger``.
    var smallInteger: Int { Int(Int16(bitPattern: bits << 4) >> 4) }

    /// Null, false, true or undefined, without the reserved bits.
    var special: Header { Header(bits: bits & 0x3C00) }
}
