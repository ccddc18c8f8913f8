import RoostBytes
import RoostStorage

/// A value that is made of rows and can be made of values of neighbouring rows: a sum, a count.
///
/// Both functions must be pure, and combining the values of neighbouring runs must give the value of all. They are called
/// from any thread.
package struct IndexReduction: Sendable {
    /// Names the functions in the file; functions that change need another name.
    package let name: String
    /// Begins the value of one or more rows.
    package let begin: @Sendable () -> any IndexReducer
    /// Makes the value of two or more values, which stand in their order.
    package let combine: @Sendable (_ values: [[UInt8]]) throws -> [UInt8]

    package init(
        name: String, begin: @escaping @Sendable () -> any IndexReducer,
        combine: @escaping @Sendable ([[UInt8]]) throws -> [UInt8]
    ) {
        self.name = name
        self.begin = begin
        self.combine = combine
    }

    /// What the tree of rows keeps.
    var stored: Reduction {
        let (begin, combine) = (begin, combine)
        return Reduction(name: name) { rows, value in
            var reducer = begin()
            try rows.forEachEntry { key, inline, reference in
                if let reference {
                    try rows.withValue(at: reference) { try reducer.add(try IndexRowView(key: key, $0)) }
                } else {
                    try reducer.add(try IndexRowView(key: key, inline))
                }
            }
            value = try reducer.value()
        } combine: { values, value in
            var all: [[UInt8]] = []
            try values.forEach { span in
                all.append(span.indices.map { span[$0] })
            }
            value = try combine(all)
        }
    }

    /// The value of a row.
    func value(of row: IndexRow) throws -> [UInt8] {
        var reducer = begin()
        try row.withRowView { try reducer.add($0) }
        return try reducer.value()
    }

    /// The value of values; `nil` of none.
    package func value(of values: [[UInt8]]) throws -> [UInt8]? {
        values.count > 1 ? try combine(values) : values.first
    }
}

/// Makes the value of some rows, which it is given one after another in their order.
package protocol IndexReducer {
    /// Takes the next row, which is valid during the call.
    mutating func add(_ row: IndexRowView) throws

    /// The value of the rows, of which there was one at least.
    func value() throws -> [UInt8]
}
