import RoostBytes

/// Reads characters from UTF-8.
struct UTF8Scanner {
    let bytes: ByteView

    /// The scalar at `offset` and where it ends; U+FFFD and the next byte for what is ill-formed.
    @inline(__always) func scalar(at offset: Int) -> (value: UInt32, end: Int) {
        let first = UInt32(bytes[offset])
        if first < 0x80 { return (first, offset + 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard first >= 0xC2, first < 0xF5, offset + length <= bytes.count else { return (0xFFFD, offset + 1) }
        var value = first & (0xFF >> UInt32(length + 1))
        for index in offset + 1..<offset + length {
            let next = UInt32(bytes[index])
            guard next & 0xC0 == 0x80 else { return (0xFFFD, offset + 1) }
            value = value << 6 | next & 0x3F
        }
        guard value < 0x11_0000, !(0xD800...0xDFFF ~= value) else { return (0xFFFD, offset + 1) }
        return (value, offset + length)
    }
}

/// Appends a scalar's UTF-8.
func appendUTF8(_ scalar: UInt32, to bytes: inout [UInt8]) {
    switch scalar {
    case ..<0x80: bytes.append(UInt8(scalar))
    case ..<0x800:
        bytes.append(UInt8(0xC0 | scalar >> 6))
        bytes.append(UInt8(0x80 | scalar & 0x3F))
    case ..<0x1_0000:
        bytes.append(UInt8(0xE0 | scalar >> 12))
        bytes.append(UInt8(0x80 | scalar >> 6 & 0x3F))
        bytes.append(UInt8(0x80 | scalar & 0x3F))
    default:
        bytes.append(UInt8(0xF0 | scalar >> 18))
        bytes.append(UInt8(0x80 | scalar >> 12 & 0x3F))
        bytes.append(UInt8(0x80 | scalar >> 6 & 0x3F))
        bytes.append(UInt8(0x80 | scalar & 0x3F))
    }
}
