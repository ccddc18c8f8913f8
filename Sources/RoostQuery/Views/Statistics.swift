import Fleece
import Roost
import RoostBytes
import RoostCrypto
import RoostIndex
import RoostStorage

/// What `_stats` makes of values.
enum Statistics {
    case one(Summary)
    /// Of values that are arrays: element by element.
    case array([Statistics])

    struct Summary {
        let sum: ExactNumber
        let count: ExactNumber
        let least: ExactNumber
        let greatest: ExactNumber
        let squares: ExactNumber
    }

    /// The statistics of one or more values, or of statistics of them.
    static func combined(_ values: [FleeceValue]) throws -> [UInt8] {
        var writer = FleeceWriter()
        guard let first = values.first else {
            writer.writeNull()
            return try writer.finish()
        }
        let total = try values.dropFirst().reduce(Statistics(first)) { try $0.adding(Statistics($1)) }
        total.write(to: &writer)
        return try writer.finish()
    }

    private init(_ value: FleeceValue) throws {
        if let number = ExactNumber(value) {
            self = .one(
                Summary(
                    sum: number, count: .whole(1), least: number, greatest: number, squares: number * number))
        } else if let elements = value.array {
            self = .array(try elements.map { try Statistics($0) })
        } else if let sum = ExactNumber(value["sum"]), let count = ExactNumber(value["count"]),
            let least = ExactNumber(value["min"]), let greatest = ExactNumber(value["max"]),
            let squares = ExactNumber(value["sumsqr"])
        {
            self = .one(
                Summary(sum: sum, count: count, least: least, greatest: greatest, squares: squares))
        } else {
            throw ViewError(
                .notReducible,
                "_stats takes numbers, objects of sum, count, min, max and sumsqr, and arrays of them, but a value is "
                    + "\(value). Emit numbers.")
        }
    }

    private func adding(_ other: Statistics) throws -> Statistics {
        switch (self, other) {
        case (.one(let a), .one(let b)):
            return .one(
                Summary(
                    sum: a.sum + b.sum, count: a.count + b.count,
                    least: b.least < a.least ? b.least : a.least,
                    greatest: a.greatest < b.greatest ? b.greatest : a.greatest,
                    squares: a.squares + b.squares))
        case (.array(let a), .array(let b)) where a.count == b.count:
            return .array(try zip(a, b).map { try $0.adding($1) })
        default:
            throw ViewError(
                .notReducible,
                "_stats takes arrays only where all values are arrays of one length. Emit such.")
        }
    }

    private func write(to writer: inout FleeceWriter) {
        switch self {
        case .one(let summary):
            writer.beginDictionary()
            for (name, number) in [
                ("sum", summary.sum), ("count", summary.count), ("min", summary.least),
                ("max", summary.greatest), ("sumsqr", summary.squares),
            ] {
                writer.key(name)
                number.write(to: &writer)
            }
            writer.endDictionary()
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        }
    }
}

// MARK: - Summand

/// A value that `_sum` adds.
enum Summand {
    case number(ExactNumber)
    case array([Summand])
    case object([ByteKey: Summand])

    init(_ value: FleeceValue) throws {
        if let number = ExactNumber(value) {
            self = .number(number)
            return
        }
        switch value.kind {
        case .array: self = .array(try (value.array ?? .empty).map { try Summand($0) })
        case .dictionary:
            var members: [ByteKey: Summand] = [:]
            for member in value.dictionary ?? .empty {
                members[ByteKey(member.key)] = try Summand(member.value)
            }
            self = .object(members)
        default:
            throw ViewError(
                .notReducible,
                "_sum adds numbers, and arrays and objects of numbers, but a value is \(value). Emit numbers."
            )
        }
    }

    func adding(_ other: Summand) throws -> Summand {
        switch (self, other) {
        case (.number(let a), .number(let b)): return .number(a + b)
        case (.array(let a), .array(let b)):
            return .array(
                try (0..<max(a.count, b.count)).map { index in
                    guard index < a.count else { return b[index] }
                    return index < b.count ? try a[index].adding(b[index]) : a[index]
                })
        case (.object(let a), .object(let b)): return .object(try a.merging(b) { try $0.adding($1) })
        case (.array, .number): return try adding(.array([other]))
        case (.number, .array): return try Summand.array([self]).adding(other)
        case (.object, _), (_, .object):
            throw ViewError(
                .notReducible, "_sum can't add an object to something else. Emit values of one kind.")
        }
    }

    func write(to writer: inout FleeceWriter) {
        switch self {
        case .number(let number): number.write(to: &writer)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginDictionary()
            for (name, member) in members {
                writer.key(name.text)
                member.write(to: &writer)
            }
            writer.endDictionary()
        }
    }
}

/// Adds values up.
struct Sum: IndexReducer {
    let readsKeys = false
    /// The sum for as long as all values are whole numbers and it fits.
    private var whole: Int64 = 0
    private var isEmpty = true
    /// The sum from the first value on that is something else.
    private var total: Summand?

    mutating func add(_ row: IndexRowView) throws { try add(ViewPayload.parts(row.payload).value) }

    /// Adds a value, given as its Fleece body.
    mutating func add(_ body: ByteView) throws {
        let node = FleeceNode(root: body)
        if total == nil, case .integer(let number) = node.content {
            let (sum, overflow) = whole.addingReportingOverflow(number)
            if !overflow {
                (whole, isEmpty) = (sum, false)
                return
            }
        }
        // Numbers need no document.
        let summand =
            try ExactNumber(node).map { .number($0) } ?? Summand(FleeceDocument(trusting: body.array).root)
        let before = total ?? (isEmpty ? nil : .number(.whole(whole)))
        total = try before?.adding(summand) ?? summand
    }

    /// The Fleece body of the sum; of 0 where nothing was added.
    func value() throws -> [UInt8] {
        guard let total else { return try ViewCore.body(of: Int(whole)) }
        var writer = FleeceWriter()
        total.write(to: &writer)
        return try writer.finish()
    }
}

// MARK: - Exact number

/// A number that reductions compute with: whole for as long as it fits 64 bits.
enum ExactNumber {
    case whole(Int64)
    case double(Double)

    /// `nil` for what is no number.
    init?(_ value: FleeceValue) {
        switch value.kind {
        case .integer: self = value.int64.map(ExactNumber.whole) ?? .double(value.double ?? 0)
        case .double: self = .double(value.double ?? 0)
        default: return nil
        }
    }

    /// `nil` for what is no number.
    init?(_ node: FleeceNode) {
        switch node.content {
        case .integer(let number): self = .whole(number)
        case .unsigned(let number): self = .double(Double(number))
        case .double(let number): self = .double(number)
        default: return nil
        }
    }

    private var double: Double {
        switch self {
        case .whole(let number): Double(number)
        case .double(let number): number
        }
    }

    private static func computed(
        _ a: Self, _ b: Self, _ whole: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        _ double: (Double, Double) -> Double
    ) -> Self {
        if case .whole(let x) = a, case .whole(let y) = b {
            let (result, overflow) = whole(x, y)
            if !overflow { return .whole(result) }
        }
        return .double(double(a.double, b.double))
    }

    static func + (a: Self, b: Self) -> Self {
        computed(a, b, { $0.addingReportingOverflow($1) }, { $0 + $1 })
    }

    static func * (a: Self, b: Self) -> Self {
        computed(a, b, { $0.multipliedReportingOverflow(by: $1) }, { $0 * $1 })
    }

    static func < (a: Self, b: Self) -> Bool {
        if case .whole(let x) = a, case .whole(let y) = b { return x < y }
        return a.double < b.double
    }

    /// What exceeds a number of 64 bits is written as the greatest there is: infinity is no JSON.
    func write(to writer: inout FleeceWriter) {
        switch self {
        case .whole(let number): writer.write(number)
        case .double(let number):
            writer.write(
                number.isFinite ? number : number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
        }
    }
}

// MARK: - Distinct keys

/// How many different keys neighbouring rows have, with the first and the last of them: what `_approx_count_distinct` keeps.
///
/// Equal keys are neighbours, so runs of rows share at most the key at which they meet. Keys are told apart by the first
/// 16 bytes of their SHA-256, so that a value stays short: both hashes, and the count as a varint.
struct DistinctKeys {
    let count: UInt64
    private let first: [UInt8]
    private let last: [UInt8]

    private static let hashLength = 16

    /// Of rows with `count` different keys from `first` to `last`.
    init(count: UInt64, from first: [UInt8], to last: [UInt8]) {
        self.count = count
        self.first = Self.hash(first)
        self.last = Self.hash(last)
    }

    /// Of runs of rows that follow one another, of which there are some.
    init(_ runs: [DistinctKeys]) {
        count = zip(runs, runs.dropFirst()).reduce(runs.reduce(0) { $0 &+ $1.count }) { count, pair in
            pair.0.last == pair.1.first ? count &- 1 : count
        }
        first = runs.first?.first ?? []
        last = runs.last?.last ?? []
    }

    /// - Throws: ``StoreError`` with `damaged` for bytes that no index has written.
    init(_ bytes: [UInt8]) throws(StoreError) {
        do throws(MalformedBytes) {
            (first, last, count) = try bytes.withView { (view) throws(MalformedBytes) in
                var reader = ByteReader(view)
                return (
                    try reader.view(Self.hashLength).array, try reader.view(Self.hashLength).array,
                    try reader.varint()
                )
            }
        } catch {
            throw StoreError(.damaged, "A view's count of distinct keys is malformed.")
        }
    }

    var encoded: [UInt8] {
        let buffer = ByteBuffer(capacity: 48)
        buffer.append(first)
        buffer.append(last)
        buffer.append(varint: count)
        return buffer.view.array
    }

    private static func hash(_ key: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(key).bytes.prefix(hashLength))
    }
}

/// Counts the different keys of rows.
struct DistinctKeyReducer: IndexReducer {
    let readsKeys = true
    private var count: UInt64 = 0
    private var first: [UInt8] = []
    private var last: [UInt8] = []

    mutating func add(_ row: IndexRowView) {
        guard count > 0 else {
            (count, first) = (1, row.component.array)
            last = first
            return
        }
        guard last.withView({ $0.compare(row.component) != 0 }) else { return }
        count += 1
        last = row.component.array
    }

    func value() -> [UInt8] { DistinctKeys(count: count, from: first, to: last).encoded }
}
