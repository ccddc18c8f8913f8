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
    package func append(_ node: FleeceNode) throws(FleeceError) {
        guard append(cutting: node) else {
            throw FleeceError(.tooDeep, "Collections are nested more than \(FleeceLimits.maximumDepth) deep.")
        }
    }

    /// Appends a value; what is nested deeper in it than a body may be counts as null.
    ///
    /// - Returns: whether nothing is.
    @discardableResult package func append(cutting node: FleeceNode, depth: Int = 0) -> Bool {
        var isWhole = true
        switch node.content {
        case .undefined: appendMissing()
        case .null: appendNull()
        case .bool(let value): append(value)
        case .integer(let number): append(number)
        case .unsigned(let number): append(number)
        case .double(let number): append(number)
        case .string(let text): append(text: text)
        case .data(let bytes): append(data: bytes)
        case .dictionary where node.nearestToDecimal != nil: append(node.nearestToDecimal ?? 0)
        case .array where depth >= FleeceLimits.maximumDepth,
            .dictionary where depth >= FleeceLimits.maximumDepth:
            appendNull()
            return false
        case .array:
            beginArray()
            for index in 0..<node.elementCount {
                guard let element = node[index] else {
                    appendMissing()
                    continue
                }
                if !append(cutting: element, depth: depth + 1) { isWhole = false }
            }
            endCollection()
        case .dictionary:
            beginObject()
            for index in 0..<node.elementCount {
                guard let member = node.member(index) else { continue }
                append(text: member.key)
                if !append(cutting: member.value, depth: depth + 1) { isWhole = false }
            }
            endCollection()
        }
        return isWhole
    }
}
