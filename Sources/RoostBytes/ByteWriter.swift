/// Writes to memory of which the caller knows that everything it puts there has room.
///
/// For the innermost loops only: ``ByteBuffer`` asks for each part. Integers are little-endian.
@unsafe @usableFromInline package struct ByteWriter {
    /// Where the next byte goes.
    @usableFromInline package internal(set) var position: UnsafeMutableRawPointer

    @inlinable @inline(__always)
    package init(_ start: UnsafeMutableRawPointer) { unsafe position = start }

    @inlinable @inline(__always)
    package mutating func put(_ byte: UInt8) {
        unsafe position.storeBytes(of: byte, as: UInt8.self)
        unsafe position += 1
    }

    @inlinable @inline(__always)
    package mutating func put(_ integer: UInt16) {
        unsafe position.storeBytes(of: integer.littleEndian, as: UInt16.self)
        unsafe position += 2
    }

    @inlinable @inline(__always)
    package mutating func put(_ integer: UInt32) {
        unsafe position.storeBytes(of: integer.littleEndian, as: UInt32.self)
        unsafe position += 4
    }

    /// An unsigned LEB128 number.
    @inlinable @inline(__always)
    package mutating func put(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            unsafe put(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        unsafe put(UInt8(truncatingIfNeeded: rest))
    }

    /// How many bytes ``put(_:isRoomy:)`` moves at once.
    @inlinable package static var roomy: Int { 16 }

    /// Like ``put(_:)``, with the same move for all short runs where there is room.
    ///
    /// - Parameter isRoomy: whether ``roomy`` more bytes may be read past the source, and written past the destination.
    @inlinable @inline(__always)
    package mutating func put(_ bytes: ByteView, isRoomy: Bool) {
        guard isRoomy, bytes.count <= 16 else { return unsafe put(bytes) }
        let source = unsafe bytes.base
        let (low, high) = unsafe (
            source.loadUnaligned(as: UInt64.self),
            source.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
        unsafe position.storeBytes(of: low, as: UInt64.self)
        unsafe position.storeBytes(of: high, toByteOffset: 8, as: UInt64.self)
        unsafe position += bytes.count
    }

    /// Keys and what stands beside them are short: most take two moves, which may overlap, and no call.
    @inlinable @inline(__always)
    package mutating func put(_ bytes: ByteView) {
        let count = bytes.count
        let source = unsafe bytes.base
        if count > 16 {
            unsafe position.copyMemory(from: source, byteCount: count)
        } else if count >= 8 {
            let last = unsafe source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            unsafe position.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
            unsafe position.storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
        } else if count >= 4 {
            let last = unsafe source.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            unsafe position.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
            unsafe position.storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
        } else {
            for index in 0..<count {
                unsafe position.storeBytes(
                    of: source.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index,
                    as: UInt8.self)
            }
        }
        unsafe position += count
    }
}
