import Fleece
import RoostOrder

// CouchDB's built-in reductions.

extension ViewReduction {
    /// How many rows there are: `_count`.
    public static let count = ViewReduction(named: "_count") { rows in
        try ViewCore.body(of: rows.count)
    } combine: { values in
        try ViewCore.body(of: values.reduce(0) { $0 + ($1.int ?? 0) })
    }

    /// The sum of the values: `_sum`. Values are numbers, arrays, which are added element by element, or objects, member by
    /// member; a number counts as an array of one element where there are arrays. Whole numbers stay whole.
    ///
    /// Reducing other values throws ``ViewError/Code/notReducible``.
    public static let sum = ViewReduction(named: "_sum") { rows in
        try Summand.sum(rows.map(\.value))
    } combine: { values in
        try Summand.sum(values)
    }

    /// Sum, count, least, greatest and sum of squares of values that are numbers: `_stats`, an object of `sum`, `count`,
    /// `min`, `max` and `sumsqr`. Values may be such objects already.
    ///
    /// Reducing other values throws ``ViewError/Code/notReducible``.
    public static let stats = ViewReduction(named: "_stats") { rows in
        try ViewCore.body(of: Statistics.combined(try rows.map { try Statistics($0.value) }))
    } combine: { values in
        try ViewCore.body(of: Statistics.combined(try values.map { try Statistics($0) }))
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

    /// The `count` greatest values, greatest first: `_top_N`. Values are ordered as keys are in CouchDB.
    ///
    /// - Parameter count: 1 to 100.
    public static func top(_ count: Int) -> ViewReduction { extreme("_top_", count, isLeast: false) }

    /// The `count` least values, least first: `_bottom_N`.
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
            for value in sorted.prefix(count) { writer.write(value) }
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
}

/// A value that `_sum` adds.
private enum Summand {
    case whole(Int64)
    case number(Double)
    case array([Summand])
    case object([String: Summand])

    static func sum(_ values: [FleeceValue]) throws -> [UInt8] {
        var total: Summand?
        for value in values {
            let next = try Summand(value)
            total = try total.map { try $0.adding(next) } ?? next
        }
        var writer = FleeceWriter()
        (total ?? .whole(0)).write(to: &writer)
        return try writer.finish()
    }

    private init(_ value: FleeceValue) throws {
        switch value.kind {
        case .integer: self = value.int64.map(Summand.whole) ?? .number(value.double ?? 0)
        case .double: self = .number(value.double ?? 0)
        case .array: self = .array(try (value.array ?? .empty).map { try Summand($0) })
        case .dictionary:
            var members: [String: Summand] = [:]
            for member in value.dictionary ?? .empty { members[member.key] = try Summand(member.value) }
            self = .object(members)
        default:
            throw ViewError(
                .notReducible,
                "_sum adds numbers, and arrays and objects of numbers, but a value is \(value). Emit numbers."
            )
        }
    }

    private func adding(_ other: Summand) throws -> Summand {
        switch (self, other) {
        case (.whole(let a), .whole(let b)):
            let (sum, overflow) = a.addingReportingOverflow(b)
            return overflow ? .number(Double(a) + Double(b)) : .whole(sum)
        case (.whole(let a), .number(let b)), (.number(let b), .whole(let a)): return .number(Double(a) + b)
        case (.number(let a), .number(let b)): return .number(a + b)
        case (.array(let a), .array(let b)):
            return .array(
                try (0..<max(a.count, b.count)).map { index in
                    guard index < a.count else { return b[index] }
                    return index < b.count ? try a[index].adding(b[index]) : a[index]
                })
        case (.object(let a), .object(let b)): return .object(try a.merging(b) { try $0.adding($1) })
        case (.array, .whole), (.array, .number): return try adding(.array([other]))
        case (.whole, .array), (.number, .array): return try Summand.array([self]).adding(other)
        case (.object, _), (_, .object):
            throw ViewError(
                .notReducible, "_sum can't add an object to something else. Emit values of one kind.")
        }
    }

    private func write(to writer: inout FleeceWriter) {
        switch self {
        case .whole(let number): writer.write(number)
        case .number(let number):
            writer.write(
                number.isFinite ? number : number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginDictionary()
            for (name, member) in members {
                writer.key(name)
                member.write(to: &writer)
            }
            writer.endDictionary()
        }
    }
}

/// What `_stats` makes of numbers.
private struct Statistics: Encodable {
    private var sum: Double
    private var count: Int
    private var min: Double
    private var max: Double
    private var sumsqr: Double

    init(_ value: FleeceValue) throws {
        if let number = value.double {
            (sum, count, min, max, sumsqr) = (number, 1, number, number, number * number)
            return
        }
        guard let sum = value["sum"].double, let count = value["count"].int, let min = value["min"].double,
            let max = value["max"].double, let sumsqr = value["sumsqr"].double
        else {
            throw ViewError(
                .notReducible,
                "_stats takes numbers, or objects of sum, count, min, max and sumsqr, but a value is \(value). Emit numbers."
            )
        }
        (self.sum, self.count, self.min, self.max, self.sumsqr) = (sum, count, min, max, sumsqr)
    }

    static func combined(_ all: [Statistics]) -> Statistics? {
        guard var total = all.first else { return nil }
        for next in all.dropFirst() {
            total.sum += next.sum
            total.count += next.count
            total.min = Swift.min(total.min, next.min)
            total.max = Swift.max(total.max, next.max)
            total.sumsqr += next.sumsqr
        }
        return total
    }
}
