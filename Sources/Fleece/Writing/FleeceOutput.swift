/// The bytes of a body while it is being written: scalars and strings as they come, collections when they
/// are complete.
///
/// Every function answers the ``Item`` that stands for what it wrote, and does not care in which collection
/// that will be put or in which order collections grow.
struct FleeceOutput: ~Copyable {
    var bytes: GrowableBuffer<UInt8>
    var sharedKeys: SharedKeys?
    /// The first thing that went wrong; reported when the body is finished.
    var failure: FleeceError?
    /// How many collections may be nested.
    var maximumDepth = FleeceLimits.maximumDepth
    private var strings = StringTable()
    var sorting = DictionarySorting()

    /// Strings of this length are written once and then pointed at, as the reference encoder does.
    private static let sharedLengths = 2...15

    init(sharedKeys: SharedKeys?, capacity: Int) {
        self.sharedKeys = sharedKeys
        bytes = GrowableBuffer(capacity: capacity)
    }

    /// An output that allocates nothing before something is written.
    init() { bytes = GrowableBuffer() }

    mutating func removeAll() {
        bytes.removeAll()
        strings.removeAll()
        failure = nil
    }

    mutating func fail(_ code: FleeceError.Code, _ message: String) {
        if failure == nil { failure = FleeceError(code, message) }
    }

    @inline(__always)
    static func bool(_ value: Bool) -> Item { Item(value ? .true : .false) }

    @inline(__always)
    mutating func integer(_ value: Int64) -> Item {
        if value >= -2048 && value < 2048 {
            return Item(Header(bits: UInt16(truncatingIfNeeded: value) & 0x0FFF))
        }
        let magnitudeBits = 64 &- (value < 0 ? ~value : value).leadingZeroBitCount
        return integer(UInt64(bitPattern: value), length: magnitudeBits / 8 &+ 1, flag: 0x10)
    }

    @inline(__always)
    mutating func integer(_ value: UInt64) -> Item {
        if let signed = Int64(exactly: value) { return integer(signed) }
        return integer(value, length: 8, flag: 0x18)
    }

    private mutating func integer(_ value: UInt64, length: Int, flag: UInt8) -> Item {
        bytes.padToEven()
        let position = bytes.count
        bytes.append(flag | UInt8(truncatingIfNeeded: length &- 1))
        bytes.append(littleEndian: value, length: length)
        return Item(position: position)
    }

    /// Four bytes where they hold the number exactly, else eight. Whole numbers stay floating point.
    mutating func double(_ value: Double) -> Item {
        guard value.isFinite else {
            fail(.unrepresentableNumber, "JSON and Fleece have no \(value).")
            return .null
        }
        bytes.padToEven()
        let position = bytes.count
        let float = Float(value)
        if Double(float) == value {
            bytes.append(header: .float)
            bytes.append(littleEndian: UInt64(float.bitPattern), length: 4)
        } else {
            bytes.append(header: .double)
            bytes.append(littleEndian: value.bitPattern, length: 8)
        }
        return Item(position: position)
    }

    /// `text` must be well-formed UTF-8.
    @inline(__always)
    mutating func string(_ text: UnsafeRawBufferPointer) -> Item {
        guard Self.sharedLengths.contains(text.count) else {
            return unsafe bytes(text, tag: .string)
        }
        bytes.padToEven()
        let next = bytes.count
        let short = unsafe ShortString(text)
        let written = unsafe UnsafeRawBufferPointer(bytes.elements)
        // Some room is left for the collection that will hold the pointer.
        let oldest = next &- (Header.narrowReach &- 32)
        let known = strings.position(hash: short.hash, oldest: oldest, next: next) { position in
            unsafe ShortString(Self.text(at: position, in: written)) == short
        }
        if let known { return Item(position: known) }
        return unsafe bytes(text, tag: .string)
    }

    mutating func data(_ data: UnsafeRawBufferPointer) -> Item {
        unsafe bytes(data, tag: .data)
    }

    @inline(__always)
    private mutating func bytes(_ content: UnsafeRawBufferPointer, tag: Header.Tag) -> Item {
        let length = content.count
        let top = UInt16(tag.rawValue) << 12
        if length < 2 {
            let byte = unsafe length == 0 ? 0 : content[0]
            return Item(Header(bits: top | UInt16(length) << 8 | UInt16(byte)))
        }
        bytes.padToEven()
        let position = bytes.count
        let marker = UInt8(truncatingIfNeeded: top >> 8)
        bytes.append(marker | UInt8(truncatingIfNeeded: min(length, Header.longLength)))
        if length >= Header.longLength { bytes.append(varint: length) }
        unsafe bytes.append(bytes: content)
        return Item(position: position)
    }

    /// The content of a string of at most 16 bytes that was written at `position`.
    @inline(__always)
    static func text(at position: Int, in written: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let length = unsafe Int(written[position] & 0x0F)
        if length < Header.longLength {
            return unsafe UnsafeRawBufferPointer(rebasing: written[position &+ 1..<position &+ 1 &+ length])
        }
        let view = unsafe written.bytes
        guard let (longLength, varintLength) = view.varint(at: position &+ 1) else { return unsafe written }
        let start = position &+ 1 &+ varintLength
        return unsafe UnsafeRawBufferPointer(rebasing: written[start..<start &+ longLength])
    }

    /// A dictionary key: its number where the shared keys have or take it, else the string.
    @inline(__always)
    mutating func key(_ text: UnsafeRawBufferPointer) -> Item {
        if let number = unsafe sharedKeys?.add(utf8: text) {
            return Item(Header(bits: UInt16(truncatingIfNeeded: number)))
        }
        return unsafe string(text)
    }

    /// Ends the body with the two bytes from which readers find `root`, and answers all of it.
    mutating func finish(root: Item) throws(FleeceError) {
        bytes.padToEven()
        if root.isPointer, bytes.count - root.position > Header.narrowReach {
            bytes.append(wideItem: root.wide(at: bytes.count))
            bytes.append(header: Header(bits: 0x8002))
        } else {
            bytes.append(header: root.narrow(at: bytes.count))
        }
        if bytes.count > FleeceLimits.maximumSize {
            fail(
                .tooLarge,
                "A body of \(bytes.count) bytes exceeds the \(FleeceLimits.maximumSize) there can be.")
        }
        if let failure { throw failure }
    }
}

// MARK: - Collections

extension FleeceOutput {
    /// Writes an array of `items`; an empty one is answered inline.
    mutating func array(_ items: UnsafeMutableBufferPointer<Item>) -> Item {
        unsafe collection(UnsafeBufferPointer(items), count: items.count, tag: .array)
    }

    /// Writes a dictionary whose `items` are keys and values in turn.
    ///
    /// The keys are sorted in place as readers expect them. Of several values for one key the last remains.
    mutating func dictionary(_ items: UnsafeMutableBufferPointer<Item>) -> Item {
        let count = unsafe sorting.sort(items, written: UnsafeRawBufferPointer(bytes.elements))
        let remaining = unsafe UnsafeBufferPointer(rebasing: items[..<(count * 2)])
        return unsafe collection(remaining, count: count, tag: .dictionary)
    }

    private mutating func collection(_ items: UnsafeBufferPointer<Item>, count: Int, tag: Header.Tag) -> Item
    {
        let top = tag.rawValue << 12
        guard count > 0 else { return Item(Header(bits: top)) }
        bytes.padToEven()
        let position = bytes.count
        bytes.append(header: Header(bits: top | UInt16(min(count, Header.longCount))))
        if count >= Header.longCount {
            bytes.append(varint: count - Header.longCount)
            bytes.padToEven()
        }
        if unsafe needsWideItems(items) {
            bytes[position] |= UInt8(Header.wideFlag >> 8)
            unsafe appendWide(items)
        } else {
            unsafe appendNarrow(items)
        }
        return Item(position: position)
    }

    /// Whether a pointer among `items` reaches further than two bytes can say.
    private func needsWideItems(_ items: UnsafeBufferPointer<Item>) -> Bool {
        var place = bytes.count
        for index in items.indices {
            let item = unsafe items[index]
            if item.isPointer, place &- item.position > Header.narrowReach { return true }
            place &+= 2
        }
        return false
    }

    private mutating func appendNarrow(_ items: UnsafeBufferPointer<Item>) {
        let start = bytes.count
        unsafe bytes.append(items.count * 2) { target in
            let target = UnsafeMutableRawPointer(target)
            for index in items.indices {
                let offset = index &* 2
                let bits = unsafe items[index].narrow(at: start &+ offset).bits.bigEndian
                unsafe target.storeBytes(of: bits, toByteOffset: offset, as: UInt16.self)
            }
        }
    }

    private mutating func appendWide(_ items: UnsafeBufferPointer<Item>) {
        let start = bytes.count
        unsafe bytes.append(items.count * 4) { target in
            let target = UnsafeMutableRawPointer(target)
            for index in items.indices {
                let offset = index &* 4
                let bits = unsafe items[index].wide(at: start &+ offset).bigEndian
                unsafe target.storeBytes(of: bits, toByteOffset: offset, as: UInt32.self)
            }
        }
    }
}

// MARK: - Item

/// A value as it will stand in its collection: two bytes inline, or where in the output it begins.
///
/// How far back a pointer has to reach is only known when its collection is written, so until then it is kept
/// as a position.
struct Item: BitwiseCopyable {
    private var bits: UInt32

    static let null = Item(.null)
    static let undefined = Item(.undefined)

    /// A value that fits two bytes.
    @inline(__always)
    init(_ header: Header) {
        bits = UInt32(header.bits) << 16
    }

    /// A value that was written at `position`, which is even.
    @inline(__always)
    init(position: Int) {
        bits = 0x8000_0000 | UInt32(truncatingIfNeeded: position >> 1) & 0x7FFF_FFFF
    }

    @inline(__always)
    var isPointer: Bool { bits & 0x8000_0000 != 0 }

    /// Where the value begins, if it is a pointer.
    @inline(__always)
    var position: Int { Int(bits & 0x7FFF_FFFF) << 1 }

    /// The value itself, if it is not a pointer.
    @inline(__always)
    var header: Header { Header(bits: UInt16(truncatingIfNeeded: bits >> 16)) }

    /// The item as two bytes that are stored at `place`.
    @inline(__always)
    func narrow(at place: Int) -> Header {
        isPointer ? Header(bits: UInt16(truncatingIfNeeded: 0x8000 | (place &- position) >> 1)) : header
    }

    /// The item as four bytes that are stored at `place`.
    @inline(__always)
    func wide(at place: Int) -> UInt32 {
        isPointer ? 0x8000_0000 | UInt32(truncatingIfNeeded: (place &- position) >> 1) : bits
    }
}
