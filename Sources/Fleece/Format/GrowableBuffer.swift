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
