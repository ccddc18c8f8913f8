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
