/// Reads a run of bytes from front to back, for input that may be damaged: every read says so instead of trapping.
///
/// Each read asks once whether the bytes are there, and then takes them without the view's own checks.
@usableFromInline package struct ByteReader {
    @usableFromInline let bytes: ByteView
    /// How many bytes have been read.
    @usableFromInline package internal(set) var position = 0

    @inlinable package init(_ bytes: ByteView) { self.bytes = bytes }

    @inlinable @inline(__always) package var remaining: Int { bytes.count &- position }
    @inlinable package var isAtEnd: Bool { remaining == 0 }

    @inlinable @inline(__always) package mutating func byte() throws(MalformedBytes) -> UInt8 {
        guard remaining >= 1 else { throw MalformedBytes(at: position) }
        defer { position &+= 1 }
        return unsafe bytes.base.load(fromByteOffset: position, as: UInt8.self)
    }

    @inlinable @inline(__always) package mutating func integer(_ type: UInt16.Type = UInt16.self)
        throws(MalformedBytes)
        -> UInt16
    {
        guard remaining >= 2 else { throw MalformedBytes(at: position) }
        defer { position &+= 2 }
        return unsafe UInt16(
            littleEndian: bytes.base.loadUnaligned(fromByteOffset: position, as: UInt16.self))
    }

    @inlinable @inline(__always) package mutating func integer(_ type: UInt32.Type = UInt32.self)
        throws(MalformedBytes)
        -> UInt32
    {
        guard remaining >= 4 else { throw MalformedBytes(at: position) }
        defer { position &+= 4 }
        return unsafe UInt32(
            littleEndian: bytes.base.loadUnaligned(fromByteOffset: position, as: UInt32.self))
    }

    @inlinable @inline(__always) package mutating func integer(_ type: UInt64.Type = UInt64.self)
        throws(MalformedBytes)
        -> UInt64
    {
        guard remaining >= 8 else { throw MalformedBytes(at: position) }
        defer { position &+= 8 }
        return unsafe UInt64(
            littleEndian: bytes.base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    @inlinable @inline(__always) package mutating func view(_ count: Int) throws(MalformedBytes) -> ByteView {
        guard count >= 0, remaining >= count else { throw MalformedBytes(at: position) }
        defer { position &+= count }
        return unsafe ByteView(bytes.base + position, count: count)
    }

    /// An unsigned LEB128 number of at most 64 bits. Overlong forms are refused, so every number has one encoding.
    @inlinable @inline(__always) package mutating func varint() throws(MalformedBytes) -> UInt64 {
        // Most numbers take one byte or two.
        let first = try byte()
        if first < 0x80 { return UInt64(first) }
        if remaining > 0 {
            let second = unsafe bytes.base.load(fromByteOffset: position, as: UInt8.self)
            if 1..<0x80 ~= second {
                position &+= 1
                return UInt64(second) << 7 | UInt64(first & 0x7f)
            }
        }
        position &-= 1
        return try longVarint()
    }

    @usableFromInline mutating func longVarint() throws(MalformedBytes) -> UInt64 {
        if let value = wordOfVarint() { return value }
        let span = unsafe Span<UInt8>(_unsafeBytes: bytes.buffer)
        guard let value = span.varint(at: &position) else { throw MalformedBytes(at: position) }
        return value
    }

    /// The varint that lies within the next eight bytes, which are read at once; `nil` where it doesn't, or is malformed.
    @inline(__always) private mutating func wordOfVarint() -> UInt64? {
        guard remaining >= 8 else { return nil }
        let word = unsafe UInt64(
            littleEndian: bytes.base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        let ends = ~word & 0x8080_8080_8080_8080
        guard ends != 0 else { return nil }
        let last = ends.trailingZeroBitCount & ~7
        guard last == 0 || word >> UInt64(last) & 0x7f != 0 else { return nil }
        // Groups of 7 bits, of 14, of 28 move together.
        var value = word & (.max >> UInt64(56 &- last)) & 0x7f7f_7f7f_7f7f_7f7f
        value = value & 0x007f_007f_007f_007f | value >> 1 & 0x3f80_3f80_3f80_3f80
        value = value & 0x0000_3fff_0000_3fff | value >> 2 & 0x0fff_c000_0fff_c000
        value = value & 0x0000_0000_0fff_ffff | value >> 4 & 0x00ff_ffff_f000_0000
        position &+= last / 8 &+ 1
        return value
    }

    /// A varint that must fit `Int` and be at most `limit`.
    @inlinable @inline(__always) package mutating func length(limit: Int) throws(MalformedBytes) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw MalformedBytes(at: position) }
        return Int(value)
    }

    /// A varint length, then that many bytes.
    @inlinable @inline(__always) package mutating func prefixed() throws(MalformedBytes) -> ByteView {
        try view(try length(limit: remaining))
    }
}

/// Bytes that don't follow their format.
@usableFromInline package struct MalformedBytes: Error, Equatable, CustomStringConvertible {
    /// Where reading stopped, counted from the start of what was read.
    @usableFromInline package let offset: Int

    @inlinable package init(at offset: Int) { self.offset = offset }

    @usableFromInline package var description: String {
        "The data does not follow its format at byte \(offset)."
    }
}
