/// Reading of one body. Whoever is handed a span uses it during the call: the compiler sees to it.
///
/// Every read is checked and has an answer outside of the bytes as well (zero, or the header of
/// `undefined`), so that reading a body that was never validated cannot trap or leave the bytes.
extension RawSpan {
    @inline(__always)
    func contains(_ offset: Int, _ length: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= byteCount &- length
    }

    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        guard contains(offset, 1) else { return 0 }
        return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    func header(at offset: Int) -> Header {
        guard contains(offset, 2) else { return .undefined }
        let bits = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self)
        return Header(bits: UInt16(bigEndian: bits))
    }

    @inline(__always)
    func wideItem(at offset: Int) -> UInt32 {
        guard contains(offset, 4) else { return UInt32(Header.undefined.bits) << 16 }
        let bits = unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)
        return UInt32(bigEndian: bits)
    }

    /// The little-endian integer of `length` bytes (1…8); zero where it does not fit.
    func littleEndian(at offset: Int, length: Int) -> UInt64 {
        guard contains(offset, length), length <= 8 else { return 0 }
        var result: UInt64 = 0
        for index in 0..<length {
            let byte = unsafe unsafeLoad(fromUncheckedByteOffset: offset &+ index, as: UInt8.self)
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

    /// The bytes of `range`, none of them if it reaches outside, as those functions take them that make strings. For use
    /// within the same call only, which the compiler does not see to any more.
    @unsafe @inline(__always)
    func buffer(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        unsafe withUnsafeBytes { bytes in
            guard contains(range.lowerBound, range.count) else {
                return unsafe UnsafeRawBufferPointer(start: bytes.baseAddress, count: 0)
            }
            return unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
        }
    }
}

// MARK: - Header

/// The first two bytes of a value, big-endian: its type in the upper four bits, its size or content below.
///
/// The layout is that of the Fleece specification (`Fleece.md` of couchbase/fleece):
///
/// | bits                  | meaning                                                               |
/// |-----------------------|-----------------------------------------------------------------------|
/// | `0000iiii iiiiiiii`   | integer of 12 bits, signed                                            |
/// | `0001uccc` …          | integer of c + 1 bytes, little-endian, unsigned if u                  |
/// | `0010s--- --------` … | float (s = 0) or double (s = 1), little-endian                        |
/// | `0011ss-- --------`   | null, false, true, undefined                                          |
/// | `0100cccc` …          | string of c bytes; if c is 15, a varint with the length comes first   |
/// | `0101cccc` …          | data, the same                                                        |
/// | `0110wccc cccccccc` … | array of c items, 4 bytes each if w, else 2; if c is 2047, a varint   |
/// |                       | with the items beyond 2047 follows, padded to an even length          |
/// | `0111wccc cccccccc` … | dictionary, the same with a key and a value for every item            |
/// | `1ooooooo oooooooo` … | pointer, o units of two bytes back; 31 bits of o in wide collections  |
struct Header: Equatable {
    /// The upper four bits of a header.
    enum Tag: UInt16 {
        case smallInteger, integer, float, special, string, data, array, dictionary
    }

    var bits: UInt16

    static let null = Header(bits: 0x3000)
    static let `false` = Header(bits: 0x3400)
    static let `true` = Header(bits: 0x3800)
    static let undefined = Header(bits: 0x3C00)
    static let float = Header(bits: 0x2000)
    static let double = Header(bits: 0x2800)

    /// The bit that marks a collection with items of four bytes.
    static let wideFlag: UInt16 = 0x0800
    /// The item count from which on a varint follows the header.
    static let longCount = 0x07FF
    /// The string length from which on a varint follows the tag.
    static let longLength = 15
    /// What a narrow pointer may span. The specification allows 65534; newer readers of the format take
    /// the top bit of the offset for a flag, so half of it is what everybody reads.
    static let narrowReach = 0x7FFE
    /// The dictionary key that stands for "inherits from", used only in delta-compressed bodies.
    static let inheritanceKey = Header(bits: 0x0800)

    var isPointer: Bool { bits & 0x8000 != 0 }

    /// The type, `nil` for a pointer.
    @inline(__always)
    var tag: Tag? {
        // Asked for each value that is read, and `init(rawValue:)` is a call. There is a tag for every number of three bits.
        isPointer ? nil : unsafe unsafeBitCast(UInt8(truncatingIfNeeded: bits >> 12), to: Tag.self)
    }

    var isCollection: Bool { bits & 0xE000 == 0x6000 }

    /// The 12-bit integer of a ``Tag/smallInteger``.
    var smallInteger: Int { Int(Int16(bitPattern: bits << 4) >> 4) }

    /// Null, false, true or undefined, without the reserved bits.
    var special: Header { Header(bits: bits & 0x3C00) }
}

// MARK: - Values

/// Where the items of an array or dictionary are.
struct CollectionLayout: Sendable {
    /// The offset of the header. Collections that items point to begin before it.
    var start: Int
    /// The offset of the first item.
    var first: Int
    /// The number of elements, or of pairs of key and value.
    var count: Int
    var isWide: Bool
    /// The bytes from one element, or pair, to the next.
    var stride: Int

    /// The offset behind the last item.
    var end: Int { first &+ count &* stride }
}

extension RawSpan {
    /// The offset that stands for "no value".
    static var nowhere: Int { -1 }

    /// The layout of the collection at `offset`; `nil` if there is none or it does not fit into the bytes.
    @inline(__always)
    func collection(at offset: Int) -> CollectionLayout? {
        let header = header(at: offset)
        guard header.isCollection else { return nil }
        var layout = CollectionLayout(
            start: offset, first: offset &+ 2, count: Int(header.bits) & Header.longCount,
            isWide: header.bits & Header.wideFlag != 0, stride: 2)
        if layout.count == Header.longCount {
            guard let (excess, length) = varint(at: layout.first) else { return nil }
            layout.count &+= excess
            layout.first &+= length &+ length & 1
        }
        if layout.isWide { layout.stride = 4 }
        if header.tag == .dictionary { layout.stride &*= 2 }
        return contains(layout.first, layout.count &* layout.stride) ? layout : nil
    }

    /// The offset of the value that the item at `place` is or points to; ``nowhere`` if that is not in the bytes.
    ///
    /// Leads only to collections that begin before `start`, where the item's own collection does, so that no walk
    /// through a body goes in circles, valid or not. An inline collection has to be empty.
    @inline(__always)
    func resolve(itemAt place: Int, isWide: Bool, before start: Int) -> Int {
        let item = header(at: place)
        guard item.isPointer else {
            return item.isCollection && item.bits & UInt16(Header.longCount) != 0 ? Self.nowhere : place
        }
        var target = target(ofPointerAt: place, isWide: isWide)
        var header = header(at: target)
        if header.isPointer, !isWide {
            // A narrow pointer may lead to a wide one, where it could not reach far enough itself.
            target = self.target(ofPointerAt: target, isWide: true)
            header = self.header(at: target)
        }
        return header.isPointer || header.isCollection && target >= start ? Self.nowhere : target
    }

    /// The value of an item of `layout`'s collection: see ``resolve(itemAt:isWide:before:)``.
    @inline(__always)
    func resolve(itemAt place: Int, of layout: CollectionLayout) -> Int {
        resolve(itemAt: place, isWide: layout.isWide, before: layout.start)
    }

    @inline(__always)
    func target(ofPointerAt place: Int, isWide: Bool) -> Int {
        let units = isWide ? Int(wideItem(at: place) & 0x7FFF_FFFF) : Int(header(at: place).bits & 0x7FFF)
        let target = place &- units &* 2
        return units > 0 && target >= 0 ? target : Self.nowhere
    }

    /// The offset of the outermost value, found from the end of the bytes.
    var root: Int {
        guard byteCount >= 2, byteCount & 1 == 0 else { return Self.nowhere }
        return resolve(itemAt: byteCount &- 2, isWide: false, before: byteCount &- 2)
    }

    /// The content of the string or data at `offset`; `nil` if there is none or it does not fit into the bytes.
    @inline(__always)
    func content(at offset: Int) -> Range<Int>? {
        var length = Int(byte(at: offset) & 0x0F)
        var start = offset &+ 1
        if length == Header.longLength {
            guard let (longLength, varintLength) = varint(at: start) else { return nil }
            length = longLength
            start &+= varintLength
        }
        return contains(start, length) ? start..<start &+ length : nil
    }

    /// The integer at `offset`, whose tag is ``Header/Tag/smallInteger`` or ``Header/Tag/integer``.
    func integer(at offset: Int) -> FleeceInteger {
        let header = header(at: offset)
        guard header.tag == .integer else { return .signed(Int64(header.smallInteger)) }
        let length = Int(header.bits >> 8 & 0x07) &+ 1
        let bits = littleEndian(at: offset &+ 1, length: length)
        if header.bits & 0x0800 != 0 {
            return Int64(exactly: bits).map(FleeceInteger.signed) ?? .unsigned(bits)
        }
        let unused = 64 &- 8 &* length
        return .signed(Int64(bitPattern: bits << UInt64(unused)) >> Int64(unused))
    }

    /// The floating-point number at `offset`, whose tag is ``Header/Tag/float``.
    func double(at offset: Int) -> Double {
        if header(at: offset).bits & 0x0800 != 0 {
            return Double(bitPattern: littleEndian(at: offset &+ 2, length: 8))
        }
        return Double(Float(bitPattern: UInt32(truncatingIfNeeded: littleEndian(at: offset &+ 2, length: 4))))
    }
}

/// A 64-bit integer with or without sign; those that fit both are `signed`.
enum FleeceInteger: Hashable {
    case signed(Int64)
    case unsigned(UInt64)
}

// MARK: - Dictionary

/// A key as it is stored in a dictionary.
enum StoredKey {
    /// A number for which the shared keys have the string.
    case number(Int)
    /// The string's bytes.
    case text(Range<Int>)
}

extension RawSpan {
    /// The key of a pair; `nil` if its bytes are not one.
    @inline(__always)
    func key(ofPair pair: Int, in layout: CollectionLayout) -> StoredKey? {
        let place = layout.first &+ pair &* layout.stride
        let offset = resolve(itemAt: place, of: layout)
        let header = header(at: offset)
        switch header.tag {
        case .smallInteger: return .number(header.smallInteger)
        case .string: return content(at: offset).map(StoredKey.text)
        default: return nil
        }
    }

    @inline(__always)
    func value(ofPair pair: Int, in layout: CollectionLayout) -> Int {
        let place = layout.first &+ pair &* layout.stride &+ layout.stride / 2
        return resolve(itemAt: place, of: layout)
    }

    /// Searches the numbers, which come before the strings.
    func pair(withNumber number: Int, in layout: CollectionLayout) -> Int? {
        search(layout) { key in
            guard case .number(let other) = key else { return -1 }
            return number &- other
        }
    }

    /// Searches the strings.
    func pair(withKey text: UnsafeRawBufferPointer, in layout: CollectionLayout) -> Int? {
        search(layout) { key in
            guard case .text(let range) = key else { return 1 }
            return unsafe ByteOrder.compare(text, buffer(range))
        }
    }

    /// Whether a pair has this string as its key.
    @inline(__always)
    func isKey(_ text: UnsafeRawBufferPointer, ofPair pair: Int, in layout: CollectionLayout) -> Bool {
        guard case .text(let range) = key(ofPair: pair, in: layout), range.count == text.count else {
            return false
        }
        return unsafe ByteOrder.compare(text, buffer(range)) == 0
    }

    /// Binary search; `order` tells how what is sought compares with a key: negative, zero or positive.
    @inline(__always)
    private func search(_ layout: CollectionLayout, order: (StoredKey) -> Int) -> Int? {
        var low = 0
        var high = layout.count
        while low < high {
            let middle = (low &+ high) / 2
            guard let key = key(ofPair: middle, in: layout) else { return nil }
            let order = order(key)
            if order == 0 { return middle }
            if order < 0 { high = middle } else { low = middle &+ 1 }
        }
        return nil
    }
}
