import Fleece
import RoostBytes

extension KeyEncoder {
    /// Appends a value; one that is not there as missing.
    ///
    /// - Throws: ``FleeceError`` with `tooDeep` for a value nested deeper than a body may be, as damage leaves it.
    package func append(_ value: FleeceValue) throws(FleeceError) { try append(value, depth: 0) }

    private func append(_ value: FleeceValue, depth: Int) throws(FleeceError) {
        switch value.kind {
        case .undefined: appendMissing()
        case .null: appendNull()
        case .bool: append(value.bool ?? false)
        case .integer: if let number = value.int64 { append(number) } else { append(value.uint64 ?? 0) }
        case .double: append(value.double ?? 0)
        case .string: _ = unsafe value.withUTF8 { unsafe append(text: ByteView($0)) }
        case .data: (value.data ?? []).withView { append(data: $0) }
        case .array:
            try Self.check(depth)
            beginArray()
            for element in value.array ?? .empty { try append(element, depth: depth + 1) }
            endCollection()
        case .dictionary:
            try Self.check(depth)
            beginObject()
            for member in (value.dictionary ?? .empty).sortedByName {
                append(member.key)
                try append(member.value, depth: depth + 1)
            }
            endCollection()
        }
    }

    private static func check(_ depth: Int) throws(FleeceError) {
        guard depth < FleeceLimits.maximumDepth else {
            throw FleeceError(.tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
        }
    }
}

extension FleeceDictionary {
    /// The members by the bytes of their names, which is how they stand unless some names are shared keys.
    var sortedByName: [Element] {
        let members = Array(self)
        let isSorted = zip(members, members.dropFirst()).allSatisfy { $0.key.precedesByBytes($1.key) }
        return isSorted ? members : members.sorted { $0.key.precedesByBytes($1.key) }
    }
}

extension String {
    /// Order by UTF-8, which Swift's own order of strings is not.
    func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
