import RoostBytes
import RoostStorage

/// A value that is made of rows and can be made of values of neighbouring rows: a sum, a count.
///
/// Both functions must be pure, and combining the values of neighbouring runs must give the value of all. They are called
/// from any thread.
package struct IndexReduction: Sendable {
    /// Names the functions; functions that change need another name.
    package let name: String
    /// Whether the name means these functions for one index only: functions of other indexes may have the same name.
    package let isOfOneIndex: Bool
    /// Begins the value of one or more rows.
    package let begin: @Sendable () -> any IndexReducer
    /// Makes the value of two or more values, which stand in their order and are valid during the call.
    package let combine: @Sendable (_ values: [ByteView]) throws -> [UInt8]

    package init(
        name: String, isOfOneIndex: Bool = false, begin: @escaping @Sendable () -> any IndexReducer,
        combine: @escaping @Sendable ([ByteView]) throws -> [UInt8]
    ) {
        self.name = name
        self.isOfOneIndex = isOfOneIndex
        self.begin = begin
        self.combine = combine
    }

    /// What the tree of an index's rows keeps.
    ///
    /// - Parameters:
    ///   - number: The number of the index.
    ///   - signature: The index's own.
    func stored(of number: UInt64, _ signature: String) -> Reduction {
        let (begin, combine) = (begin, combine)
        // The store finds functions by their names, and numbers are given again. So both are needed where a name is not enough.
        let hash = Array(signature.utf8).withView { XXH3.hash($0) }
        let stored = isOfOneIndex ? "own \(number) \(String(hash, radix: 16))" : name
        return Reduction(name: stored) { rows, value in
            var reducer = begin()
            let readsKeys = reducer.readsKeys
            try rows.forEachEntry(withKeys: readsKeys) { key, inline, reference in
                let key = readsKeys ? key : nil
                if let reference {
                    try rows.withValue(at: reference) { try reducer.add(try IndexRowView(key: key, $0)) }
                } else {
                    try reducer.add(try IndexRowView(key: key, inline))
                }
            }
            value = try reducer.value()
        } combine: { values, value in
            var all: [ByteView] = []
            all.reserveCapacity(values.count)
            for index in 0..<values.count { all.append(values[index]) }
            value = try combine(all)
        }
    }

    /// The value of a row.
    func value(of row: IndexRow) throws -> [UInt8] {
        var reducer = begin()
        try row.withView { try reducer.add($0) }
        return try reducer.value()
    }

    /// The value of values; `nil` of none.
    package func value(of values: [[UInt8]]) throws -> [UInt8]? {
        guard values.count > 1 else { return values.first }
        let bytes = ByteBuffer()
        for value in values { bytes.append(value) }
        defer { extendLifetime(bytes) }
        var start = 0
        return try combine(
            values.map { value in
                defer { start += value.count }
                return bytes.view.slice(start, value.count)
            })
    }
}

/// Makes the value of some rows, which it is given one after another in their order.
package protocol IndexReducer {
    /// Whether it looks at more of a row than its payload.
    var readsKeys: Bool { get }

    /// Takes the next row, which is valid during the call.
    mutating func add(_ row: IndexRowView) throws

    /// The value of the rows, of which there was one at least.
    func value() throws -> [UInt8]
}
