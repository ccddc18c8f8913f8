/// A value as it will stand in its collection: two bytes inline, or where in the output it begins.
///
/// How far back a pointer has to reach is only known when its collection is written, so until then it is kept
/// as a position.
struct Item: BitwiseCopyable {
    private var bits: UInt32

    static let null = Item(.null)
    static let undefined = Item(.undefined)

    /// A value that fits two bytes.
    @inline(__always)
    init(_ header: Header) {
        bits = UInt32(header.bits) << 16
    }

    /// A value that was written at `position`, which is even.
    @inline(__always)
    init(position: Int) {
        bits = 0x8000_0000 | UInt32(truncatingIfNeeded: position >> 1) & 0x7FFF_FFFF
    }

    @inline(__always)
    var isPointer: Bool { bits & 0x8000_0000 != 0 }

    /// Where the value begins, if it is a pointer.
    @inline(__always)
    var position: Int { Int(bits & 0x7FFF_FFFF) << 1 }

    /// The value itself, if it is not a pointer.
    @inline(__always)
    var header: Header { Header(bits: UInt16(truncatingIfNeeded: bits >> 16)) }

    /// The item as two bytes that are stored at `place`.
    @inline(__always)
    func narrow(at place: Int) -> Header {
        isPointer ? Header(bits: UInt16(truncatingIfNeeded: 0x8000 | (place &- position) >> 1)) : header
    }

    /// The item as four bytes that are stored at `place`.
    @inline(__always)
    func wide(at place: Int) -> UInt32 {
        isPointer ? 0x8000_0000 | UInt32(truncatingIfNeeded: (place &- position) >> 1) : bits
    }
}
