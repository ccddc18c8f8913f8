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
