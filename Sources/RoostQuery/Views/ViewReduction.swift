import Fleece
import RoostBytes
import RoostIndex
import RoostOrder

/// What a view makes of the values of neighbouring rows.
///
/// Results are kept in the tree of the rows, so that the reduction of any range is put together from few of them, in O(log
/// n), as long as a result is no longer than 255 bytes; longer ones are made of the rows when they are requested.
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

// MARK: - Built in

// CouchDB's built-in reductions.

/// Counts rows.
private struct RowCount: IndexReducer {
    let readsKeys = false
    private var count = 0

    mutating func add(_ row: IndexRowView) { count += 1 }

    func value() throws -> [UInt8] { try ViewCore.body(of: count) }
}

extension ViewReduction {
    /// How many rows there are: `_count`.
    public static let count = ViewReduction(
        IndexReduction(name: "_count") {
            RowCount()
        } combine: { values in
            try ViewCore.body(
                of: values.reduce(0) { count, value in
                    guard case .integer(let number) = FleeceNode(root: value).content else { return count }
                    return count &+ Int(number)
                })
        }
    ) { $0 }

    /// The sum of the values: `_sum`. Values are numbers, arrays, which are added element by element, or objects, member by
    /// member; a number counts as an array of one element where there are arrays. Whole numbers stay whole.
    ///
    /// Reducing other values throws ``ViewError/Code/notReducible``.
    public static let sum = ViewReduction(
        IndexReduction(name: "_sum") {
            Sum()
        } combine: { values in
            var sum = Sum()
            for value in values { try sum.add(value) }
            return try sum.value()
        }
    ) { $0 }

    /// Sum, count, least, greatest and sum of squares of values that are numbers: `_stats`, an object of `sum`, `count`,
    /// `min`, `max` and `sumsqr`. Values may be such objects already, or arrays of one length, whose elements make an array
    /// of such objects. Whole numbers stay whole.
    ///
    /// Reducing other values throws ``ViewError/Code/notReducible``.
    public static let stats = ViewReduction(
        named: "_stats", values: Statistics.combined, combine: Statistics.combined)

    /// How many different keys there are: `_approx_count_distinct`. Keys that sort as equal are one.
    ///
    /// CouchDB estimates this to 2 %. Here it is exact, as rows stand in the order of their keys: of neighbouring rows it
    /// suffices to know how many keys there are, and the first and the last of them.
    public static let distinctCount = ViewReduction(
        IndexReduction(name: "_approx_count_distinct") {
            DistinctKeyReducer()
        } combine: { values in
            try DistinctKeys(values.map { try DistinctKeys($0.array) }).encoded
        }
    ) { kept in
        try ViewCore.body(of: DistinctKeys(kept).count)
    }

    /// The value of the row with the least key: `_first`.
    public static let first = ViewReduction(named: "_first") { rows in
        try ViewCore.body(of: rows.first?.value ?? .undefined)
    } combine: { values in
        try ViewCore.body(of: values.first ?? .undefined)
    }

    /// The value of the row with the greatest key: `_last`.
    public static let last = ViewReduction(named: "_last") { rows in
        try ViewCore.body(of: rows.last?.value ?? .undefined)
    } combine: { values in
        try ViewCore.body(of: values.last ?? .undefined)
    }

    /// The `count` greatest values, greatest first: `_top_N`. Values are ordered as keys are in CouchDB, and equal ones count once.
    ///
    /// - Parameter count: 1 to 100.
    public static func top(_ count: Int) -> ViewReduction { extreme("_top_", count, isLeast: false) }

    /// The `count` least values, least first: `_bottom_N`. Equal ones count once.
    ///
    /// - Parameter count: 1 to 100.
    public static func bottom(_ count: Int) -> ViewReduction { extreme("_bottom_", count, isLeast: true) }

    private static func extreme(_ name: String, _ count: Int, isLeast: Bool) -> ViewReduction {
        let count = min(max(count, 1), 100)
        @Sendable func best(_ values: [FleeceValue]) throws -> [UInt8] {
            let sorted = values.sorted { a, b in
                let order = Collation.couchDB.compare(a, b)
                return isLeast ? order < 0 : order > 0
            }
            var writer = FleeceWriter()
            writer.beginArray()
            var (written, last) = (0, FleeceValue.undefined)
            for value in sorted where written == 0 || Collation.couchDB.compare(value, last) != 0 {
                if written == count { break }
                writer.write(value)
                (written, last) = (written + 1, value)
            }
            writer.endArray()
            return try writer.finish()
        }
        return ViewReduction(named: "\(name)\(count)") { rows in
            try best(rows.map(\.value))
        } combine: { values in
            try best(values.flatMap { Array($0.array ?? .empty) })
        }
    }

    /// The built-in reduction of that name in CouchDB, such as `_sum` or `_top_3`; `nil` when there is none.
    public static func builtIn(_ name: String) -> ViewReduction? {
        switch name {
        case "_count": return .count
        case "_sum": return .sum
        case "_stats": return .stats
        case "_approx_count_distinct": return .distinctCount
        case "_first": return .first
        case "_last": return .last
        default: break
        }
        for (prefix, make) in [("_top_", top), ("_bottom_", bottom)] where name.hasPrefix(prefix) {
            guard let count = Int(name.dropFirst(prefix.count)), 1...100 ~= count else { return nil }
            return make(count)
        }
        return nil
    }

    /// The built-in reduction that a text begins with the name of: anything may follow, as in CouchDB.
    package static func named(in text: String) -> ViewReduction? {
        builtIn(String(text.prefix { $0 == "_" || $0.isLetter || $0.isNumber }))
    }
}
