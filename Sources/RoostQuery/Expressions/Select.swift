import Roost

/// A query: what to take from where, under which condition, grouped and ordered how.
struct Select: Hashable, Sendable {
    var isDistinct = false
    /// Whether a row is the value of the only column, and not an object: SELECT VALUE.
    var isRaw = false
    /// What a row consists of; `_id` and `_sequence` when it is empty.
    var columns: [Column] = []
    /// Where rows come from; the default collection when it is empty.
    var sources: [Source] = []
    var condition: Expression?
    var groups: [Expression] = []
    var having: Expression?
    /// What WINDOW has.
    var windows: [NamedWindow] = []
    var order: [Ordering] = []
    var limit: Expression?
    var limitPlace = Place.unknown
    var offset: Expression?
    var offsetPlace = Place.unknown
    /// Which indexes may be used, and whether they are rather than reading all documents.
    var indexUse = IndexUse.cheapest

    /// Which indexes are used.
    enum IndexUse: Hashable, Sendable {
        /// Whatever takes least.
        case cheapest
        /// The one that takes least of those there are.
        case any
        /// This one.
        case named(String)

        /// Whether an index may be used; one of what a selector matches only where it is named, as in CouchDB.
        func allows(_ index: ValueIndex) -> Bool {
            if case .named(let wanted) = self {
                ByteKey(wanted) == ByteKey(index.name)
            } else {
                index.selector == nil
            }
        }
    }

    /// A part of a row.
    struct Column: Hashable, Sendable {
        var value: Expression
        var alias: String?
        /// Whether it was written as `*` or `name.*`: tables have its members as columns of their own.
        var isStar = false
        var place = Place.unknown
    }

    /// Where rows come from.
    struct Source: Hashable, Sendable {
        var origin: Origin
        var alias: String
        var join = Join.first
        /// ON.
        var condition: Expression?
        var place = Place.unknown
    }

    /// What a source yields rows of.
    indirect enum Origin: Hashable, Sendable {
        case collection(String, scope: String)
        case select(Select)
        /// The rows of two queries, put together.
        case combined(Select, SetOperation, Select)
        /// The elements of an array of the sources before.
        case elements(Expression)
    }

    /// How the rows of two queries are put together.
    enum SetOperation: String, Hashable, Sendable {
        case unionAll = "UNION ALL"
        case union = "UNION"
        case intersect = "INTERSECT"
        case except = "EXCEPT"
    }

    /// How a source is joined to those before it.
    enum Join: String, Hashable, Sendable {
        case first, inner, left, cross
    }

    /// One of the things that rows are ordered by.
    struct Ordering: Hashable, Sendable {
        var value: Expression
        var isDescending = false
        /// Where null and missing values come; as the least of all values unless it is given.
        var nulls: Nulls?

        enum Nulls: Hashable, Sendable { case first, last }
    }

    /// A window that has a name.
    struct NamedWindow: Hashable, Sendable {
        let name: String
        let window: Window
    }
}

// MARK: - Window

/// A function that computes a value of a row from other rows of the same result: `rank() OVER (PARTITION BY city ORDER BY age)`.
enum WindowFunction: Hashable, Sendable {
    case named(Name)
    /// An aggregate of the rows of the frame.
    case aggregate(Aggregate, isDistinct: Bool)

    /// What the functions are called that are no aggregates.
    enum Name: String, Hashable, Sendable, CaseIterable {
        case rowNumber = "row_number", rank, denseRank = "dense_rank", percentRank = "percent_rank"
        case cumulativeDistribution = "cume_dist", ntile
        case lag, lead
        case firstValue = "first_value", lastValue = "last_value", nthValue = "nth_value"
    }

    /// The name that it is shown by.
    var name: String {
        switch self {
        case .named(let name): name.rawValue
        case .aggregate(let aggregate, _): aggregate.name.rawValue
        }
    }

    /// The arguments that have to be the same for all rows, by their places.
    var constantArguments: [Int] {
        switch self {
        case .named(.ntile): [0]
        case .named(.lag), .named(.lead), .named(.nthValue): [1]
        default: []
        }
    }
}

/// A window function with its arguments and its window.
struct WindowCall: Hashable, Sendable {
    let function: WindowFunction
    /// None for an aggregate that counts rows.
    let arguments: [Expression]
    let window: Window
    let place: Place
}

/// Which rows a window function looks at: what OVER has, or a name in WINDOW.
struct Window: Hashable, Sendable {
    /// The window of WINDOW that this one continues.
    var base: String?
    var partition: [Expression] = []
    var order: [Select.Ordering] = []
    var frame: WindowFrame<Expression>?
    var place = Place.unknown
}

/// The rows of a partition that an aggregate or `first_value` and its like look at, from the present row.
struct WindowFrame<Offset: Hashable & Sendable>: Hashable, Sendable {
    let unit: WindowFrameUnit
    let start: Bound
    let end: Bound

    /// Where a frame begins or ends.
    enum Bound: Hashable, Sendable {
        case unboundedPreceding
        case preceding(Offset)
        case currentRow
        case following(Offset)
        case unboundedFollowing
    }

    var offsets: [Offset] { [start, end].compactMap(\.offset) }

    func map<Other: Hashable & Sendable>(
        _ body: (Offset) throws(QueryError) -> Other
    ) throws(QueryError) -> WindowFrame<Other> {
        WindowFrame<Other>(unit: unit, start: try start.map(body), end: try end.map(body))
    }
}

/// What the offsets of a frame count.
enum WindowFrameUnit: String, Hashable, Sendable {
    case rows = "ROWS"
    /// How far apart the values are that rows are ordered by. Rows of equal values are peers, and in a frame together.
    case range = "RANGE"
}

extension WindowFrame {
    /// From the first row of the partition to the last peer of the present row, which without ORDER BY is the last row.
    static var usual: Self { Self(unit: .range, start: .unboundedPreceding, end: .currentRow) }
}

extension WindowFrame.Bound {
    var offset: Offset? {
        switch self {
        case .preceding(let offset), .following(let offset): offset
        case .unboundedPreceding, .currentRow, .unboundedFollowing: nil
        }
    }

    func map<Other: Hashable & Sendable>(
        _ body: (Offset) throws(QueryError) -> Other
    ) throws(QueryError) -> WindowFrame<Other>.Bound {
        switch self {
        case .unboundedPreceding: .unboundedPreceding
        case .preceding(let offset): .preceding(try body(offset))
        case .currentRow: .currentRow
        case .following(let offset): .following(try body(offset))
        case .unboundedFollowing: .unboundedFollowing
        }
    }

    /// Its place among the kinds of bounds: a frame begins with none that is behind its end.
    var rank: Int {
        switch self {
        case .unboundedPreceding: 0
        case .preceding: 1
        case .currentRow: 2
        case .following: 3
        case .unboundedFollowing: 4
        }
    }
}

// MARK: - Text

extension WindowCall {
    var sqlText: String {
        "\(function.name)(\(argumentsText)) OVER \(window.sqlText)"
    }

    private var argumentsText: String {
        let texts = arguments.map(\.sqlText).joined(separator: ", ")
        guard case .aggregate(let aggregate, let isDistinct) = function else { return texts }
        return (isDistinct ? "DISTINCT " : "") + (arguments.isEmpty ? "*" : texts) + aggregate.optionsText
    }
}

extension Window {
    fileprivate var sqlText: String {
        var parts = base.map { [Expression.text(of: [.key($0)])] } ?? []
        if !partition.isEmpty {
            parts.append("PARTITION BY " + partition.map(\.sqlText).joined(separator: ", "))
        }
        if !order.isEmpty {
            parts.append("ORDER BY " + order.map(\.sqlText).joined(separator: ", "))
        }
        if let frame {
            parts.append("\(frame.unit.rawValue) BETWEEN \(frame.start.sqlText) AND \(frame.end.sqlText)")
        }
        return "(\(parts.joined(separator: " ")))"
    }
}

extension WindowFrame<Expression>.Bound {
    fileprivate var sqlText: String {
        switch self {
        case .unboundedPreceding: "UNBOUNDED PRECEDING"
        case .preceding(let offset): "\(offset.sqlText) PRECEDING"
        case .currentRow: "CURRENT ROW"
        case .following(let offset): "\(offset.sqlText) FOLLOWING"
        case .unboundedFollowing: "UNBOUNDED FOLLOWING"
        }
    }
}

extension Select.Ordering {
    /// As it is written.
    fileprivate var sqlText: String {
        value.sqlText + (isDescending ? " DESC" : "")
            + (nulls.map { $0 == .first ? " NULLS FIRST" : " NULLS LAST" } ?? "")
    }
}
