import Fleece
import RoostBytes
import RoostIndex

/// What a view makes of the values of neighbouring rows.
///
/// Results are kept in the tree of the rows, so that the reduction of any range is put together from few of them, in O(log
/// n), as long as a result is no longer than 255 bytes; longer ones are made of the rows when they are asked for.
public struct ViewReduction: Sendable {
    /// A row as a reduction sees it.
    public typealias Row = (key: FleeceValue, id: String, value: FleeceValue)

    /// What the index keeps of rows.
    let index: IndexReduction
    /// Makes the result of what is kept, Fleece bodies both unless the reduction keeps something else.
    let result: @Sendable ([UInt8]) throws -> [UInt8]

    /// Names the function in the file.
    var name: String { index.name }

    /// A reduction that keeps results.
    ///
    /// - Parameter isOfOneView: Whether another view may have another function of this name.
    init(
        named name: String, isOfOneView: Bool = false,
        reduce: @escaping @Sendable ([Row]) throws -> [UInt8],
        combine: @escaping @Sendable ([FleeceValue]) throws -> [UInt8]
    ) {
        index = IndexReduction(name: name, isOfOneIndex: isOfOneView) {
            GatheringReducer(readsKeys: true, reduce: reduce) { row in
                let (key, value) = ViewPayload.decode(row.payload)
                return (key, String(decoding: row.documentID.array, as: UTF8.self), value)
            }
        } combine: { values in
            try combine(values.map { FleeceDocument(trusting: $0.array).root })
        }
        result = { $0 }
    }

    /// A reduction of values alone, which keeps results.
    init(
        named name: String, values: @escaping @Sendable ([FleeceValue]) throws -> [UInt8],
        combine: @escaping @Sendable ([FleeceValue]) throws -> [UInt8]
    ) {
        index = IndexReduction(name: name) {
            GatheringReducer(readsKeys: false, reduce: values) {
                FleeceDocument(trusting: ViewPayload.parts($0.payload).value.array).root
            }
        } combine: { values in
            try combine(values.map { FleeceDocument(trusting: $0.array).root })
        }
        result = { $0 }
    }

    /// A reduction that keeps something else than its results.
    init(_ index: IndexReduction, result: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
        self.index = index
        self.result = result
    }

    /// A reduction of your own.
    ///
    /// - Parameters:
    ///   - name: names the function among those of its view.
    ///   - version: change it when a function changes.
    ///   - reduce: makes a result of one or more rows, which stand in their order. Must be pure.
    ///   - rereduce: makes a result of two or more results of neighbouring rows, which stand in their order. Must give what
    ///     reducing all those rows would give.
    public static func custom<Result: Codable & Sendable>(
        _ name: String, version: String, reduce: @escaping @Sendable ([Row]) throws -> Result,
        rereduce: @escaping @Sendable ([Result]) throws -> Result
    ) -> ViewReduction {
        ViewReduction(named: ownName(name, version), isOfOneView: true) { rows in
            try ViewCore.body(of: try reduce(rows))
        } combine: { values in
            try ViewCore.body(
                of: try rereduce(try values.map { try FleeceDecoder().decode(Result.self, from: $0) }))
        }
    }

    /// As ``custom(_:version:reduce:rereduce:)``, for functions that answer `nil` where they fail. The result of such rows, and of all that
    /// they are reduced with, is null: a failed part never counts as one of no rows.
    package static func fallible(
        _ name: String, version: String, reduce: @escaping @Sendable ([Row]) throws -> FleeceValue?,
        rereduce: @escaping @Sendable ([FleeceValue]) throws -> FleeceValue?
    ) -> ViewReduction {
        let kept = ViewReduction(named: ownName(name, version), isOfOneView: true) { rows in
            try body(of: try reduce(rows))
        } combine: { values in
            try body(of: values.allSatisfy(\.exists) ? try rereduce(values) : nil)
        }
        return ViewReduction(kept.index) { try ViewCore.body(of: FleeceDocument(trusting: $0).root) }
    }

    private static func ownName(_ name: String, _ version: String) -> String { "own;\(name);\(version)" }

    /// The body of a value, which may be null; of undefined where a function has failed.
    private static func body(of value: FleeceValue?) throws -> [UInt8] {
        if let value { return try ViewCore.body(of: value) }
        var writer = FleeceWriter()
        writer.writeUndefined()
        return try writer.finish()
    }
}

/// Gathers what a function makes of rows and reduces all of it at once.
private struct GatheringReducer<Element>: IndexReducer {
    let readsKeys: Bool
    let reduce: ([Element]) throws -> [UInt8]
    let element: (IndexRowView) -> Element
    private var elements: [Element] = []

    init(
        readsKeys: Bool, reduce: @escaping ([Element]) throws -> [UInt8],
        element: @escaping (IndexRowView) -> Element
    ) {
        self.readsKeys = readsKeys
        self.reduce = reduce
        self.element = element
    }

    mutating func add(_ row: IndexRowView) { elements.append(element(row)) }

    func value() throws -> [UInt8] { try reduce(elements) }
}
