import RoostBytes

/// Keys from `lower` up to, not including, `upper`; `nil` is open.
struct KeySpan: Equatable {
    var lower: [UInt8] = []
    var upper: [UInt8]?

    func contains(_ key: [UInt8]) -> Bool {
        !key.lexicographicallyPrecedes(lower) && (upper.map { key.lexicographicallyPrecedes($0) } ?? true)
    }

    /// What both have in common, `nil` when that is nothing.
    func intersection(_ other: KeySpan) -> KeySpan? {
        let low = lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower
        var high = upper ?? other.upper
        if let a = upper, let b = other.upper { high = a.lexicographicallyPrecedes(b) ? a : b }
        if let high, !low.lexicographicallyPrecedes(high) { return nil }
        return KeySpan(lower: low, upper: high)
    }

    var range: KeyRange { KeyRange(lower: lower.isEmpty ? nil : Key(lower), upper: upper.map { Key($0) }) }
}

/// Parts of a tree's keys, sorted and apart from each other, each with a number that says what is known of it.
struct KeySpans {
    struct Part {
        var span: KeySpan
        /// Operations of commits after this record must be applied to the part.
        var since: UInt64
    }

    private(set) var parts: [Part] = []

    var isEmpty: Bool { parts.isEmpty }
    var spans: [KeySpan] { parts.map(\.span) }

    /// Adds a span that has nothing in common with the others; neighbours of the same number join.
    mutating func add(_ span: KeySpan, since: UInt64 = 0) {
        var index = parts.partitioningIndex { !$0.span.lower.lexicographicallyPrecedes(span.lower) }
        if index > 0, parts[index - 1].span.upper == span.lower, parts[index - 1].since == since {
            index -= 1
            parts[index].span.upper = span.upper
        } else {
            parts.insert(Part(span: span, since: since), at: index)
        }
        if index + 1 < parts.count, parts[index].span.upper == parts[index + 1].span.lower,
            parts[index].since == parts[index + 1].since
        {
            parts[index].span.upper = parts[index + 1].span.upper
            parts.remove(at: index + 1)
        }
    }

    /// The part that `key` is in.
    func part(of key: [UInt8]) -> Part? {
        let index = parts.partitioningIndex { key.lexicographicallyPrecedes($0.span.lower) }
        guard index > 0, parts[index - 1].span.contains(key) else { return nil }
        return parts[index - 1]
    }

    /// The parts that have something in common with `span`, cut to it.
    func intersections(_ span: KeySpan) -> [Part] {
        var index = max(
            0, parts.partitioningIndex { span.lower.lexicographicallyPrecedes($0.span.lower) } - 1)
        var result: [Part] = []
        while index < parts.count {
            let part = parts[index]
            if let upper = span.upper, !part.span.lower.lexicographicallyPrecedes(upper) { break }
            if let common = part.span.intersection(span) {
                result.append(Part(span: common, since: part.since))
            }
            index += 1
        }
        return result
    }
}
