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
