import Fleece
import RoostBytes

extension KeyEncoder {
    /// Appends a value, whose document has no shared keys; one that is not there as missing.
    ///
    /// - Throws: ``FleeceError`` with `tooDeep` for a value nested deeper than a body may be, as damage leaves it.
    package func append(_ value: FleeceValue) throws(FleeceError) {
        let result = value.withNode { node in
            Result { () throws(FleeceError) in try append(node) }
        }
        if let result { try result.get() } else { appendMissing() }
    }

    /// Appends a value; one that is not there as missing.
    ///
    /// - Throws: as ``append(_:)-(FleeceValue)``.
    package func append(_ node: FleeceNode) throws(FleeceError) { try append(node, depth: 0) }

    private func append(_ node: FleeceNode, depth: Int) throws(FleeceError) {
        switch node.content {
        case .undefined: appendMissing()
        case .null: appendNull()
        case .bool(let value): append(value)
        case .integer(let number): append(number)
        case .unsigned(let number): append(number)
        case .double(let number): append(number)
        case .string(let text): append(text: text)
        case .data(let bytes): append(data: bytes)
        case .array:
            try Self.check(depth)
            beginArray()
            for index in 0..<node.elementCount {
                if let element = node[index] {
                    try append(element, depth: depth + 1)
                } else {
                    appendMissing()
                }
            }
            endCollection()
        case .dictionary:
            try Self.check(depth)
            beginObject()
            for index in 0..<node.elementCount {
                guard let member = node.member(index) else { continue }
                append(text: member.key)
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
