#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A growable run of bytes in memory of its own, written at the end and patched anywhere below it.
///
/// Not thread-safe: it belongs to whoever builds it. ``view`` stays valid until the next append or release.
@safe package final class ByteBuffer {
    @usableFromInline var base: UnsafeMutableRawPointer
    /// Bytes written so far.
    @usableFromInline package internal(set) var count = 0
    @usableFromInline var capacity: Int

    /// The alignment of the memory: a block, so that whole buffers can go to the medium as they are.
    static let alignment = 4096

    @inlinable package convenience init() { self.init(capacity: 256) }

    package init(capacity: Int) {
        self.capacity = max(capacity, 64)
        unsafe base = ByteBuffer.allocate(self.capacity)
    }

    deinit { unsafe free(base) }

    static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
        guard let memory = unsafe malloc(capacity) else { fatalError("out of memory") }
        return unsafe memory
    }

    /// What has been written; valid until the next append or release.
    @inlinable package var view: ByteView { unsafe ByteView(UnsafeRawPointer(base), count: count) }

    /// Makes sure that `extra` bytes can follow without another allocation.
    @inlinable package func reserve(_ extra: Int) {
        if capacity - count < extra { grow(extra) }
    }

    @usableFromInline func grow(_ extra: Int) {
        capacity = max(capacity * 2, count + extra)
        guard let memory = unsafe realloc(base, capacity) else { fatalError("out of memory") }
        unsafe base = memory
    }

    /// Forgets everything, keeping the memory unless it is larger than `limit`.
    package func reset(keeping limit: Int = .max) {
        count = 0
        if capacity > limit {
            unsafe free(base)
            capacity = limit
            unsafe base = ByteBuffer.allocate(capacity)
        }
    }

    @inlinable package func append(_ byte: UInt8) {
        reserve(1)
        unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inlinable package func append<T: FixedWidthInteger & BitwiseCopyable>(integer: T) {
        reserve(MemoryLayout<T>.size)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    @inlinable package func append(_ bytes: ByteView) {
        reserve(bytes.count)
        unsafe memcpy(base + count, bytes.base, bytes.count)
        count += bytes.count
    }

    @inlinable package func append(_ bytes: [UInt8]) {
        bytes.withView { append($0) }
    }

    /// An unsigned LEB128 number: seven bits a byte, lowest first, the high bit set on all but the last byte.
    @inlinable package func append(varint value: UInt64) {
        reserve(10)
        var rest = value
        while rest >= 0x80 {
            unsafe base.storeBytes(
                of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
            count += 1
            rest >>= 7
        }
        unsafe base.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// A length as a varint, then the bytes.
    @inlinable package func append(prefixed bytes: ByteView) {
        append(varint: UInt64(bytes.count))
        append(bytes)
    }

    /// Appends `length` zero bytes.
    @inlinable package func append(zeros length: Int) {
        reserve(length)
        unsafe memset(base + count, 0, length)
        count += length
    }

    /// Makes the buffer `length` bytes longer or shorter; new bytes are undefined until written.
    @inlinable package func resize(to length: Int) {
        precondition(length >= 0)
        if length > count { reserve(length - count) }
        count = length
    }

    /// Overwrites bytes written before.
    @inlinable package func store<T: FixedWidthInteger & BitwiseCopyable>(_ integer: T, at offset: Int) {
        precondition(offset >= 0 && offset <= count - MemoryLayout<T>.size)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: offset, as: T.self)
    }

    /// Overwrites bytes written before.
    @inlinable package func store(_ bytes: ByteView, at offset: Int) {
        precondition(offset >= 0 && offset <= count - bytes.count)
        unsafe memcpy(base + offset, bytes.base, bytes.count)
    }

    /// Overwrites bytes written before with `value` as an unsigned LEB128 number.
    @inlinable package func store(varint value: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset <= count - varintLength(value))
        var position = offset
        var rest = value
        while rest >= 0x80 {
            unsafe base.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: position, as: UInt8.self)
            position += 1
            rest >>= 7
        }
        unsafe base.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: position, as: UInt8.self)
    }

    /// Moves `length` bytes from `source` to `destination`, both within the buffer; they may overlap.
    @inlinable package func move(from source: Int, to destination: Int, count length: Int) {
        precondition(source >= 0 && destination >= 0 && length >= 0)
        precondition(source <= count - length && destination <= count - length)
        unsafe memmove(base + destination, base + source, length)
    }

    /// The bytes written so far as a mutable raw buffer, valid until the next append or release.
    @inlinable package var mutableBytes: UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: base, count: count)
    }
}
