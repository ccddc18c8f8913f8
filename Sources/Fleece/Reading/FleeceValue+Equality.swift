extension FleeceValue: Hashable {
    /// Whether both values have the same content, wherever it is stored and whatever the shared keys.
    ///
    /// 1 and 1.0 differ, as their JSON texts do. Takes time in proportion to the content.
    public static func == (left: Self, right: Self) -> Bool {
        left.isEqual(to: right, depth: 0)
    }

    private func isEqual(to other: Self, depth: Int) -> Bool {
        let kind = kind
        guard kind == other.kind, depth <= FleeceLimits.maximumDepth else { return false }
        switch kind {
        case .undefined, .null: return true
        case .bool: return bool == other.bool
        case .integer: return storedInteger == other.storedInteger
        case .double: return double == other.double
        case .string: return hasSameBytes(as: other, .string)
        case .data: return hasSameBytes(as: other, .data)
        case .array:
            guard let array, let others = other.array, array.count == others.count else { return false }
            return zip(array, others).allSatisfy { $0.isEqual(to: $1, depth: depth + 1) }
        case .dictionary:
            guard let dictionary, dictionary.count == other.dictionary?.count else { return false }
            return dictionary.allSatisfy { key, value in
                let otherValue = other[key]
                return otherValue.isSomewhere && value.isEqual(to: otherValue, depth: depth + 1)
            }
        }
    }

    var storedInteger: FleeceInteger? {
        isSomewhere ? document.read { $0.integer(at: offset) } : nil
    }

    private func hasSameBytes(as other: Self, _ tag: Header.Tag) -> Bool {
        unsafe withBytes(tag) { bytes in
            unsafe other.withBytes(tag) { unsafe ByteOrder.compare(bytes, $0) == 0 }
        } == true
    }

    /// Feeds scalars completely and collections by their size, so that it takes constant time but for strings.
    public func hash(into hasher: inout Hasher) {
        let kind = kind
        hasher.combine(kind)
        switch kind {
        case .undefined, .null: break
        case .bool: hasher.combine(bool)
        case .integer: hasher.combine(storedInteger)
        case .double: hasher.combine(double)
        case .string: unsafe withBytes(.string) { unsafe hasher.combine(bytes: $0) }
        case .data: unsafe withBytes(.data) { unsafe hasher.combine(bytes: $0) }
        case .array: hasher.combine(array?.count)
        case .dictionary: hasher.combine(dictionary?.count)
        }
    }
}

extension FleeceDocument: Equatable {
    /// Whether both bodies have the same content: see ``FleeceValue/==(_:_:)``.
    public static func == (left: FleeceDocument, right: FleeceDocument) -> Bool {
        if left.sharedKeys == nil, right.sharedKeys == nil, left.bytes == right.bytes { return true }
        return left.root == right.root
    }
}
