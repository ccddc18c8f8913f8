/// Well-formedness of UTF-8 as table 3-7 of the Unicode Standard defines it.
enum UTF8Text {
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The offset of the first byte that does not continue a well-formed text, `nil` if all are well-formed.
    static func firstIllFormed(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard var cursor = bytes.baseAddress else { return nil }
        let start = unsafe cursor
        let end = unsafe cursor + bytes.count
        while unsafe cursor < end {
            if unsafe end - cursor >= 8, unsafe cursor.loadUnaligned(as: UInt64.self) & highBits == 0 {
                unsafe cursor += 8
            } else if unsafe cursor.load(as: UInt8.self) < 0x80 {
                unsafe cursor += 1
            } else {
                let length = unsafe sequenceLength(at: cursor, end: end)
                if length == 0 { return unsafe cursor - start }
                unsafe cursor += length
            }
        }
        return nil
    }

    /// The length of the multi-byte sequence at `cursor` (2…4), 0 if it is ill-formed or cut off by `end`.
    @inline(__always)
    static func sequenceLength(at cursor: UnsafeRawPointer, end: UnsafeRawPointer) -> Int {
        let available = unsafe end - cursor
        guard available >= 2 else { return 0 }
        let lead = unsafe cursor.load(as: UInt8.self)
        let second = unsafe cursor.load(fromByteOffset: 1, as: UInt8.self)
        if lead < 0xE0 {
            return lead >= 0xC2 && isContinuation(second) ? 2 : 0
        }
        guard available >= 3, isContinuation(unsafe cursor.load(fromByteOffset: 2, as: UInt8.self)) else {
            return 0
        }
        if lead < 0xF0 {
            let lowest: UInt8 = lead == 0xE0 ? 0xA0 : 0x80
            let highest: UInt8 = lead == 0xED ? 0x9F : 0xBF
            return second >= lowest && second <= highest ? 3 : 0
        }
        guard available >= 4, lead <= 0xF4,
            isContinuation(unsafe cursor.load(fromByteOffset: 3, as: UInt8.self))
        else { return 0 }
        let lowest: UInt8 = lead == 0xF0 ? 0x90 : 0x80
        let highest: UInt8 = lead == 0xF4 ? 0x8F : 0xBF
        return second >= lowest && second <= highest ? 4 : 0
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
