import Fleece
import RoostIndex

/// What a view makes of the values of neighbouring rows.
///
/// Results are kept in the tree of the rows, so that the reduction of any range is put together from few of them, in O(log
/// n), as long as a result is no longer than 255 bytes; longer ones are made of the rows when they are asked for.
public struct ViewReduction: Sendable {
    /// A row as a reduction sees it.
    public typealias Row = (key: FleeceValue, id: String, value: FleeceValue)

    /// Names the function in the file.
    let name: String
    private let reduce: @Sendable ([Row]) throws -> [UInt8]
    private let combine: @Sendable ([FleeceValue]) throws -> [UInt8]

    init(
        named name: String, reduce: @escaping @Sendable ([Row]) throws -> [UInt8],
        combine: @escaping @Sendable ([FleeceValue]) throws -> [UInt8]
    ) {
        self.name = name
        self.reduce = reduce
        self.combine = combine
    }

    /// A reduction of your own.
    ///
    /// - Parameters:
    ///   - name: names the function, in up to 200 bytes.
    ///   - version: change it when a function changes.
    ///   - reduce: makes a result of one or more rows, which stand in their order. Must be pure.
    ///   - rereduce: makes a result of two or more results of neighbouring rows, which stand in their order. Must give what
    ///     reducing all those rows would give.
    public static func custom<Result: Codable & Sendable>(
        _ name: String, version: String, reduce: @escaping @Sendable ([Row]) throws -> Result,
        rereduce: @escaping @Sendable ([Result]) throws -> Result
    ) -> ViewReduction {
        ViewReduction(named: "custom/\(name);\(version)") { rows in
            try ViewCore.body(of: try reduce(rows))
        } combine: { values in
            try ViewCore.body(
                of: try rereduce(try values.map { try FleeceDecoder().decode(Result.self, from: $0) }))
        }
    }

    /// What the index keeps.
    var index: IndexReduction {
        let (reduce, combine) = (reduce, combine)
        return IndexReduction(name: name) { rows in
            try reduce(
                rows.map { row in
                    let (key, value) = ViewPayload.decode(row.payload)
                    return (key, String(decoding: row.documentID, as: UTF8.self), value)
                })
        } combine: { values in
            try combine(values.map { FleeceDocument(trusting: $0).root })
        }
    }
}
