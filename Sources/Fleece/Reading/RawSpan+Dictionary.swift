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
