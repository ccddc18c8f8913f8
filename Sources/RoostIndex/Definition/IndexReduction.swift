import RoostBytes
import RoostStorage

/// A value that is made of rows and can be made of values of neighbouring rows: a sum, a count.
///
/// Both functions must be pure, and combining the values of neighbouring runs must give the value of all. They are called
/// from any thread.
package struct IndexReduction: Sendable {
    /// Names the functions in the file; functions that change need another name.
    package let name: String
    /// Makes the value of one or more rows, which stand in their order.
    package let reduce: @Sendable (_ rows: [IndexRow]) throws -> [UInt8]
    /// Makes the value of two or more values, which stand in their order.
    package let combine: @Sendable (_ values: [[UInt8]]) throws -> [UInt8]

    package init(
        name: String, reduce: @escaping @Sendable ([IndexRow]) throws -> [UInt8],
        combine: @escaping @Sendable ([[UInt8]]) throws -> [UInt8]
    ) {
        self.name = name
        self.reduce = reduce
        self.combine = combine
    }

    /// What the tree of rows keeps.
    var stored: Reduction {
        let (reduce, combine) = (reduce, combine)
        return Reduction(name: name) { rows, value in
            var all: [IndexRow] = []
            all.reserveCapacity(rows.count)
            try rows.forEachEntry { key, inline, reference in
                if let reference {
                    try rows.withValue(at: reference) { all.append(try IndexRow(key: key.array, $0)) }
                } else {
                    all.append(try IndexRow(key: key.array, inline))
                }
            }
            value = try reduce(all)
        } combine: { values, value in
            var all: [[UInt8]] = []
            try values.forEach { span in
                all.append(span.indices.map { span[$0] })
            }
            value = try combine(all)
        }
    }

    /// The value of values; `nil` of none.
    package func value(of values: [[UInt8]]) throws -> [UInt8]? {
        values.count > 1 ? try combine(values) : values.first
    }
}
