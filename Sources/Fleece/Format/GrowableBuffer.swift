/// A growing sequence of plain values with a single owner.
///
/// What an array does, without its uniqueness check and exclusivity bookkeeping at every change: those
/// cost several times the store itself when bytes are written one by one.
@safe struct GrowableBuffer<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int

    private static var minimumCapacity: Int { 16 }

    init(capacity: Int) {
        self.capacity = max(capacity, Self.minimumCapacity)
        unsafe base = .allocate(capacity: self.capacity)
    }

    /// An empty buffer, which allocates nothing before something is appended.
    init() {
        capacity = 0
        // Not null, so that the buffer of the elements has a base, and never read or written.
        unsafe base = UnsafeMutablePointer(bitPattern: MemoryLayout<Element>.alignment)!
    }

    deinit { deallocate() }

    private func deallocate() {
        if capacity > 0 { unsafe base.deallocate() }
    }

    /// The stored elements. Valid until the next change that may grow the buffer.
    @unsafe var elements: UnsafeMutableBufferPointer<Element> {
        unsafe UnsafeMutableBufferPointer(start: base, count: count)
    }

    subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < count)
            return unsafe base[index]
        }
        @inline(__always) set {
            precondition(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }

    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if count &+ additional > capacity { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int) {
        let larger = max(capacity * 2, count + additional, Self.minimumCapacity)
        let target = UnsafeMutablePointer<Element>.allocate(capacity: larger)
        unsafe target.update(from: base, count: count)
        deallocate()
        capacity = larger
        unsafe base = target
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        reserve(1)
        unsafe base[count] = element
        count &+= 1
    }

    @inline(__always)
    mutating func append(copying source: UnsafeBufferPointer<Element>) {
        guard let start = source.baseAddress else { return }
        reserve(source.count)
        unsafe (base + count).update(from: start, count: source.count)
        count &+= source.count
    }

    /// Appends `length` elements that `body` fills in completely.
    @inline(__always)
    mutating func append(_ length: Int, filling body: (UnsafeMutablePointer<Element>) -> Void) {
        reserve(length)
        unsafe body(base + count)
        count &+= length
    }

    @inline(__always)
    mutating func removeAll(from index: Int = 0) {
        precondition(index >= 0 && index <= count)
        count = index
    }
}

extension GrowableBuffer where Element == UInt8 {
    @inline(__always)
    mutating func append(bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        let length = bytes.count
        unsafe append(length) { target in
            unsafe UnsafeMutableRawPointer(target).copyMemory(from: start, byteCount: length)
        }
    }

    @inline(__always)
    mutating func append(header: Header) {
        let bits = header.bits.bigEndian
        unsafe append(2) { unsafe UnsafeMutableRawPointer($0).storeBytes(of: bits, as: UInt16.self) }
    }

    @inline(__always)
    mutating func append(wideItem item: UInt32) {
        let bits = item.bigEndian
        unsafe append(4) { unsafe UnsafeMutableRawPointer($0).storeBytes(of: bits, as: UInt32.self) }
    }

    /// Appends the lowest `length` bytes (1…8) of `value`, lowest first.
    @inline(__always)
    mutating func append(littleEndian value: UInt64, length: Int) {
        var rest = value
        for _ in 0..<length {
            append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    mutating func append(varint value: Int) {
        var rest = UInt(value)
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    @inline(__always)
    mutating func append(text: StaticString) {
        unsafe append(bytes: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// The value's bytes must start at an even offset.
    @inline(__always)
    mutating func padToEven() {
        if count & 1 != 0 { append(0) }
    }

    /// A copy of everything that was appended.
    func copy() -> [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(elements))
    }
}

// MARK: - ByteOrder

/// Comparisons and loads of short byte sequences, eight bytes at a time.
enum ByteOrder {
    /// Compares as `memcmp` does, a prefix before what it is a prefix of: negative, zero or positive.
    @inline(__always)
    static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let shared = min(left.count, right.count)
        guard shared > 0, let a = left.baseAddress, let b = right.baseAddress else {
            return left.count &- right.count
        }
        var index = 0
        while index &+ 8 <= shared {
            let x = UInt64(bigEndian: unsafe a.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let y = UInt64(bigEndian: unsafe b.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if x != y { return x < y ? -1 : 1 }
            index &+= 8
        }
        while index < shared {
            let x = unsafe a.load(fromByteOffset: index, as: UInt8.self)
            let y = unsafe b.load(fromByteOffset: index, as: UInt8.self)
            if x != y { return x < y ? -1 : 1 }
            index &+= 1
        }
        return left.count &- right.count
    }

    /// The first eight bytes as a big-endian number, zeros behind a shorter sequence: sorts as the bytes do.
    @inline(__always)
    static func prefix(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let base = bytes.baseAddress else { return 0 }
        if bytes.count >= 8 {
            return UInt64(bigEndian: unsafe base.loadUnaligned(as: UInt64.self))
        }
        var result: UInt64 = 0
        for index in 0..<bytes.count {
            let byte = unsafe base.load(fromByteOffset: index, as: UInt8.self)
            result |= UInt64(byte) << UInt64(56 &- 8 &* index)
        }
        return result
    }
}

/// A string of at most 16 bytes as numbers: equal numbers mean equal strings, and one multiplication hashes it.
struct ShortString: Equatable {
    let first: UInt64
    let last: UInt64
    let count: UInt8

    static let maximumLength = 16

    /// The two loads overlap where the length is no multiple of theirs; that still covers every byte.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        let length = bytes.count
        assert(length <= Self.maximumLength)
        count = UInt8(truncatingIfNeeded: length)
        guard length > 0, let base = bytes.baseAddress else {
            (first, last) = (0, 0)
            return
        }
        if length >= 8 {
            unsafe first = base.loadUnaligned(as: UInt64.self)
            unsafe last = base.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
        } else if length >= 4 {
            unsafe first = UInt64(base.loadUnaligned(as: UInt32.self))
            unsafe last = UInt64(base.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self))
        } else {
            unsafe first =
                UInt64(base.load(as: UInt8.self)) | UInt64(
                    base.load(fromByteOffset: length / 2, as: UInt8.self)) << 8
            unsafe last = UInt64(base.load(fromByteOffset: length &- 1, as: UInt8.self))
        }
    }

    /// A hash of all bits. Callers bound their probing, so that colliding keys cost space, never time.
    @inline(__always)
    var hash: UInt64 {
        let product = (first ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(
            by: last ^ 0xD6E8_FEB8_6659_FD93 ^ UInt64(count) << 56)
        return product.high ^ product.low
    }
}

// MARK: - UTF8Text

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
