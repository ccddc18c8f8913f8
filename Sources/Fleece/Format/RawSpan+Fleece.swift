/// Reading of one body. Whoever is handed a span uses it during the call: the compiler sees to it.
///
/// Every read is checked and has an answer outside of the bytes as well (zero, or the header of
/// `undefined`), so that reading a body that was never validated cannot trap or leave the bytes.
extension RawSpan {
    @inline(__always)
    func contains(_ offset: Int, _ length: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= byteCount &- length
    }

    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        guard contains(offset, 1) else { return 0 }
        return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    func header(at offset: Int) -> Header {
        guard contains(offset, 2) else { return .undefined }
        let bits = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self)
        return Header(bits: UInt16(bigEndian: bits))
    }

    @inline(__always)
    func wideItem(at offset: Int) -> UInt32 {
        guard contains(offset, 4) else { return UInt32(Header.undefined.bits) << 16 }
        let bits = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
        return UInt32(bigEndian: bits)
    }

    /// The little-endian integer of `length` bytes (1…8); zero where it does not fit.
    func littleEndian(at offset: Int, length: Int) -> UInt64 {
        guard contains(offset, length), length <= 8 else { return 0 }
        var result: UInt64 = 0
        for index in 0..<length {
            let byte = unsafe unsafeLoad(fromUncheckedByteOffset: offset &+ index, as: UInt8.self)
            result |= UInt64(byte) << UInt64(8 &* index)
        }
        return result
    }

    /// The unsigned LEB128 number at `offset` and its length; `nil` if it is cut off or exceeds 32 bits.
    func varint(at offset: Int) -> (value: Int, length: Int)? {
        var result: UInt64 = 0
        for index in 0..<5 {
            guard contains(offset &+ index, 1) else { return nil }
            let byte = byte(at: offset &+ index)
            result |= UInt64(byte & 0x7F) << UInt64(7 &* index)
            if byte & 0x80 == 0 {
                return result <= UInt64(UInt32.max) ? (Int(result), index &+ 1) : nil
            }
        }
        return nil
    }

    /// The bytes of `range`, none of them if it reaches outside, as those functions take them that make strings. For use
    /// within the same call only, which the compiler does not see to any more.
    @unsafe @inline(__always)
    func buffer(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        unsafe withUnsafeBytes { bytes in
            guard contains(range.lowerBound, range.count) else {
                return unsafe UnsafeRawBufferPointer(start: bytes.baseAddress, count: 0)
            }
            return unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
        }
    }
}
