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
@usableFromInline @safe package final class ByteBuffer {
    /// Kept behind a pointer that never changes, which spares the run-time exclusivity checks on a class's own variables. The
    /// buffer belongs to one thread and hands out no inout access.
    @usableFromInline let state: UnsafeMutablePointer<State>

    @usableFromInline @safe struct State {
        @usableFromInline var base: UnsafeMutableRawPointer
        @usableFromInline var count: Int
        @usableFromInline var capacity: Int
    }

    /// The first bytes stand in one allocation with the state, after it: many buffers never need more.
    private static let headerLength = 32

    @inlinable var base: UnsafeMutableRawPointer { unsafe state.pointee.base }

    /// Bytes written so far.
    @inlinable package internal(set) var count: Int {
        get { unsafe state.pointee.count }
        set { unsafe state.pointee.count = newValue }
    }

    /// Bytes that there is memory for.
    @inlinable package var capacity: Int { unsafe state.pointee.capacity }

    @inlinable package convenience init() { self.init(capacity: 256) }

    @usableFromInline package init(capacity: Int) {
        let capacity = max(capacity, 64)
        guard let memory = unsafe malloc(ByteBuffer.headerLength + capacity) else {
            fatalError("out of memory")
        }
        unsafe state = memory.bindMemory(to: State.self, capacity: 1)
        unsafe state.initialize(
            to: State(base: memory + ByteBuffer.headerLength, count: 0, capacity: capacity))
    }

    deinit {
        if !isFirst { unsafe free(base) }
        unsafe free(state)
    }

    /// Whether the bytes still stand where they first did.
    private var isFirst: Bool { unsafe base == UnsafeMutableRawPointer(state) + ByteBuffer.headerLength }

    /// What has been written; valid until the next append or release.
    @inlinable package var view: ByteView { unsafe ByteView(UnsafeRawPointer(base), count: count) }

    /// Makes sure that `extra` bytes can follow without another allocation.
    @inlinable package func reserve(_ extra: Int) {
        if capacity - count < extra { grow(extra) }
    }

    @usableFromInline func grow(_ extra: Int) {
        let capacity = max(self.capacity * 2, count + extra)
        guard let memory = unsafe realloc(isFirst ? nil : base, capacity) else { fatalError("out of memory") }
        if isFirst { unsafe memory.copyMemory(from: base, byteCount: count) }
        unsafe state.pointee.base = memory
        unsafe state.pointee.capacity = capacity
    }

    /// Forgets everything, keeping the memory unless it is larger than `limit`.
    package func reset(keeping limit: Int = .max) {
        count = 0
        if capacity > limit, !isFirst {
            guard let memory = unsafe realloc(base, max(limit, 64)) else { fatalError("out of memory") }
            unsafe state.pointee.base = memory
            unsafe state.pointee.capacity = max(limit, 64)
        }
    }

    @inlinable package func append(_ byte: UInt8) {
        reserve(1)
        unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    // One method for each width: a generic one is not specialized across modules here.
    @inlinable package func append(integer: UInt16) {
        reserve(2)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: count, as: UInt16.self)
        count += 2
    }

    @inlinable package func append(integer: UInt32) {
        reserve(4)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: count, as: UInt32.self)
        count += 4
    }

    @inlinable package func append(integer: UInt64) {
        reserve(8)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
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

    /// Overwrites a byte written before.
    @inlinable package func store(_ byte: UInt8, at offset: Int) {
        precondition(offset >= 0 && offset < count)
        unsafe base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }

    /// Overwrites bytes written before.
    @inlinable package func store(_ integer: UInt16, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 2)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: offset, as: UInt16.self)
    }

    /// Overwrites bytes written before.
    @inlinable package func store(_ integer: UInt32, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 4)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: offset, as: UInt32.self)
    }

    /// Overwrites bytes written before.
    @inlinable package func store(_ integer: UInt64, at offset: Int) {
        precondition(offset >= 0 && offset <= count - 8)
        unsafe base.storeBytes(of: integer.littleEndian, toByteOffset: offset, as: UInt64.self)
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
            unsafe base.storeBytes(
                of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: position, as: UInt8.self)
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
