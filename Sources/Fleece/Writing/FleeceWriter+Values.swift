extension FleeceWriter {
    /// Writes a copy of a value from any document, its keys translated to this writer's shared keys.
    ///
    /// ``FleeceValue/undefined`` is written like ``writeUndefined()``.
    public mutating func write(_ value: FleeceValue) {
        append { output, depth in output.copy(value, depth: depth) }
    }
}

extension FleeceOutput {
    /// Writes a copy of `value`, which will be within `depth` collections.
    mutating func copy(_ value: FleeceValue, depth: Int) -> Item {
        guard value.isSomewhere else { return .undefined }
        return value.document.read {
            copy($0, at: value.offset, keys: value.document.sharedKeys, depth: depth)
        }
    }

    /// Writes a copy of the value at `offset`, whose dictionaries may have numbers from `keys` in place of strings.
    mutating func copy(_ view: RawSpan, at offset: Int, keys: SharedKeys?, depth: Int) -> Item {
        let header = view.header(at: offset)
        switch header.tag {
        case .special, .smallInteger:
            return Item(header)
        case .integer:
            return switch view.integer(at: offset) {
            case .signed(let value): integer(value)
            case .unsigned(let value): integer(value)
            }
        case .float:
            return double(view.double(at: offset))
        case .string:
            return view.content(at: offset).map { unsafe string(view.buffer($0)) } ?? .undefined
        case .data:
            return view.content(at: offset).map { unsafe data(view.buffer($0)) } ?? .undefined
        case .array, .dictionary:
            return copy(view, collectionAt: offset, keys: keys, depth: depth)
        case nil:
            return .undefined
        }
    }

    private mutating func copy(
        _ view: RawSpan, collectionAt offset: Int, keys: SharedKeys?, depth: Int
    ) -> Item {
        guard depth < maximumDepth else {
            fail(.tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
            return .undefined
        }
        guard let layout = view.collection(at: offset) else { return .undefined }
        let isDictionary = view.header(at: offset).tag == .dictionary
        var items = GrowableBuffer<Item>(capacity: layout.count * 2)
        for place in stride(from: layout.first, to: layout.end, by: layout.isWide ? 4 : 2)
        where failure == nil {
            let isKey = isDictionary && items.count & 1 == 0
            let element = view.resolve(itemAt: place, of: layout)
            items.append(
                isKey
                    ? copy(view, keyAt: element, keys: keys)
                    : copy(view, at: element, keys: keys, depth: depth + 1))
        }
        return unsafe isDictionary ? dictionary(items.elements) : array(items.elements)
    }

    private mutating func copy(_ view: RawSpan, keyAt offset: Int, keys: SharedKeys?) -> Item {
        if let text = view.content(at: offset), view.header(at: offset).tag == .string {
            return unsafe key(view.buffer(text))
        }
        let number = view.header(at: offset).smallInteger
        return unsafe keys?.withBytes(of: number) { unsafe key($0) }
            ?? string(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}
