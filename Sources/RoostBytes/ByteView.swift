#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A read-only view of bytes that somebody else owns and keeps alive for as long as the view is used.
///
/// Every access is bounds-checked, so a view can at worst read bytes of its own memory; what it cannot check is
/// that the memory still exists, which is the contract of whoever hands one out. Integers are little-endian and
/// may be unaligned. Two words, passed in registers.
///
/// It is no `RawSpan`, whose lifetime the compiler checks: in Swift 6.3 no function, accessor or initializer may return one
/// ("cannot return a ~Escapable result") without the experimental feature `Lifetimes`, so that no struct can hold one and no
/// slice of one can be handed back. What only takes bytes as an argument uses spans, as reading Fleece does.
@usableFromInline @safe package struct ByteView {
    @usableFromInline let base: UnsafeRawPointer
    /// The number of bytes in view.
    @usableFromInline package let count: Int

    /// A view of `buffer`, whose memory must outlive it.
    @inlinable package init(_ buffer: UnsafeRawBufferPointer) {
        unsafe base = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
        count = buffer.count
    }

    @inlinable package init(_ base: UnsafeRawPointer, count: Int) {
        precondition(count >= 0)
        unsafe self.base = base
        self.count = count
    }

    /// No bytes.
    @inlinable package static var empty: ByteView {
        unsafe ByteView(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    @inlinable package var isEmpty: Bool { count == 0 }

    @inlinable package subscript(_ index: Int) -> UInt8 {
        precondition(index >= 0 && index < count)
        return unsafe base.load(fromByteOffset: index, as: UInt8.self)
    }

    // One method for each width: a generic one is not specialized across modules here.
    @inlinable package func load(_ type: UInt16.Type = UInt16.self, at offset: Int) -> UInt16 {
        precondition(offset >= 0 && offset <= count - 2)
        return unsafe UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    @inlinable package func load(_ type: UInt32.Type = UInt32.self, at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset <= count - 4)
        return unsafe UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    @inlinable package func load(_ type: UInt64.Type = UInt64.self, at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= count - 8)
        return unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The `length` bytes at `offset`.
    @inlinable package func slice(_ offset: Int, _ length: Int) -> ByteView {
        precondition(offset >= 0 && length >= 0 && offset <= count - length)
        return unsafe ByteView(base + offset, count: length)
    }

    /// The bytes from `offset` to the end.
    @inlinable package func dropFirst(_ offset: Int) -> ByteView { slice(offset, count - offset) }

    /// Order by unsigned bytes, a proper prefix first; negative, zero or positive as memcmp answers.
    @inlinable package func compare(_ other: ByteView) -> Int {
        let common = min(count, other.count)
        let order = unsafe common == 0 ? 0 : Int(memcmp(base, other.base, common))
        return order != 0 ? order : count - other.count
    }

    /// How many leading bytes both have in common.
    @inlinable @inline(__always) package func commonPrefix(_ other: ByteView) -> Int {
        let limit = min(count, other.count)
        var index = 0
        while index <= limit &- 8 {
            // Both have these bytes, so their bounds are not checked again.
            let bytes = unsafe base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let others = unsafe other.base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let difference = (bytes ^ others).littleEndian
            if difference != 0 { return index &+ difference.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < limit, self[index] == other[index] { index &+= 1 }
        return index
    }

    /// Whether no byte has its high bit set.
    package var isASCII: Bool {
        var index = 0
        while index <= count &- 8 {
            if load(UInt64.self, at: index) & 0x8080_8080_8080_8080 != 0 { return false }
            index &+= 8
        }
        while index < count {
            if self[index] >= 0x80 { return false }
            index &+= 1
        }
        return true
    }

    /// A copy of the bytes.
    @inlinable package var array: [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Where the bytes begin, under the same contract.
    @inlinable package var start: UnsafeRawPointer { unsafe base }

    /// The same bytes as a raw buffer, under the same contract.
    @inlinable package var buffer: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base, count: count)
    }
}

extension [UInt8] {
    /// Calls `body` with a view of the array that is valid during the call.
    @inlinable package func withView<R, E: Error>(_ body: (ByteView) throws(E) -> R) throws(E) -> R {
        let result: Result<R, E> = unsafe withUnsafeBytes { buffer in
            do throws(E) {
                return .success(try body(unsafe ByteView(buffer)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
