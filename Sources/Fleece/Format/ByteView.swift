/// Read access to the bytes of one body, for the length of one call.
///
/// Every read is checked and has an answer outside of the bytes as well (zero, or the header of
/// `undefined`), so that reading a body that was never validated cannot trap or leave the buffer.
/// A view never outlives the closure that it was handed to.
@safe struct ByteView {
    private let base: UnsafeRawPointer
    let count: Int

    /// The view over bytes that stay where they are while the view is used.
    @unsafe init(_ bytes: UnsafeRawBufferPointer) {
        if let address = bytes.baseAddress {
            unsafe base = address
            count = bytes.count
        } else {
            unsafe base = UnsafeRawPointer(bitPattern: 1)!
            count = 0
        }
    }

    @inline(__always)
    func contains(_ offset: Int, _ length: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= count &- length
    }

    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        guard contains(offset, 1) else { return 0 }
        return unsafe base.load(fromByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    func header(at offset: Int) -> Header {
        guard contains(offset, 2) else { return .undefined }
        let bits = unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
        return Header(bits: UInt16(bigEndian: bits))
    }

    @inline(__always)
    func wideItem(at offset: Int) -> UInt32 {
        guard contains(offset, 4) else { return UInt32(Header.undefined.bits) << 16 }
        return UInt32(bigEndian: unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The little-endian integer of `length` bytes (1…8); zero where it does not fit.
    func littleEndian(at offset: Int, length: Int) -> UInt64 {
        guard contains(offset, length), length <= 8 else { return 0 }
        var result: UInt64 = 0
        for index in 0..<length {
            let byte = unsafe base.load(fromByteOffset: offset &+ index, as: UInt8.self)
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

    /// The bytes of `range`, none of them if it reaches outside. For use within the same call only.
    @unsafe @inline(__always)
    func buffer(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        guard contains(range.lowerBound, range.count) else {
            return unsafe UnsafeRawBufferPointer(start: base, count: 0)
        }
        return unsafe UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }
}
