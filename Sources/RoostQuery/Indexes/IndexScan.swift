import Fleece
import Roost
import RoostBytes
import RoostIndex
import RoostOrder
import RoostStorage

/// How an index can answer the conditions on a source: the ranges of its rows that documents which meet them have.
struct IndexAccess: Sendable {
    let index: CompiledIndex
    /// Values that the first columns are equal to; of the last of them there may be several.
    var equalities: [Equality] = []
    /// Bounds of the column after these.
    var lower: Bound?
    var upper: Bound?
    /// The conditions that the ranges answer, as they are written.
    var conditions: [String] = []
    /// Whether the ranges answer all that the query asks of the source, so that their rows need only be counted.
    var isExact = false
    /// Whether rows in the index's order are in the order that the query asks for; backwards where `isReversed`.
    var isOrdered = false
    var isReversed = false

    /// What a column is equal to.
    enum Equality: Sendable {
        case value(Evaluation)
        /// One of the elements of an array.
        case oneOf(Evaluation)
        /// Values that are null, or not there.
        case test(ValueTest)
    }

    /// An end of a range of values.
    struct Bound: Sendable {
        let value: Evaluation
        let isIncluded: Bool
    }

    /// Whether it reads less than all of the index.
    var isNarrowed: Bool { !equalities.isEmpty || lower != nil || upper != nil }

    // MARK: Ranges

    /// The ranges of keys to read, in order and apart from each other; `nil` when a value is too long for exact ranges.
    func ranges(_ frame: Frame) -> [KeyRange]? {
        var prefixes: [[UInt8]] = [[]]
        for (number, equality) in equalities.enumerated() {
            let column = index.columns[number]
            let keys: [[UInt8]]
            switch equality {
            case .value(let value):
                let value = value(frame)
                keys = value.isValued ? [Self.key(value, column)] : []
            case .oneOf(let list):
                let values = list(frame).arrayElements.map { $0.filter(\.isValued) } ?? []
                keys = Set(values.map { Self.key($0, column) }).sorted { $0.lexicographicallyPrecedes($1) }
            case .test(.missing): keys = [Self.key(.missing, column)]
            case .test: keys = [Self.key(.null, column)]
            }
            prefixes = prefixes.flatMap { prefix in keys.map { prefix + $0 } }
            guard prefixes.count <= Self.mostRanges else { return nil }
        }
        guard prefixes.allSatisfy({ $0.count <= Self.longestKey }) else { return nil }
        guard lower != nil || upper != nil else { return prefixes.map { KeyRange(prefix: Key($0)) } }
        return bounded(prefixes, frame)
    }

    private static let mostRanges = 1000
    /// Keys of rows are cut off behind this.
    private static let longestKey = 1_400

    private static func key(_ value: Value, _ column: CompiledIndex.Column) -> [UInt8] {
        let encoder = KeyEncoder(column.collation)
        encoder.append(value)
        if column.isDescending { encoder.complement(from: 0) }
        return encoder.key
    }

    private func bounded(_ prefixes: [[UInt8]], _ frame: Frame) -> [KeyRange]? {
        let column = index.columns[equalities.count]
        var low: [UInt8]?
        var high: [UInt8]?
        for (bound, isLower) in [(lower, true), (upper, false)] {
            guard let bound else { continue }
            let value = bound.value(frame)
            // Nothing is less or greater than null.
            guard value.isValued else { return [] }
            let key = Self.key(value, column)
            guard key.count <= Self.longestKey else { return nil }
            // A column that goes down has the bounds the other way round.
            if isLower != column.isDescending {
                low = bound.isIncluded ? key : Self.after(key)
            } else {
                high = bound.isIncluded ? Self.after(key) : key
            }
        }
        // What is less than a value is not null and not missing either.
        let least = Self.key(.bool(false), column)
        if column.isDescending {
            high = high ?? Self.after(least)
        } else {
            low = low ?? least
        }
        return prefixes.map { prefix in
            let end = high.map { Key(prefix + $0) } ?? (prefix.isEmpty ? nil : Key(Self.after(prefix)))
            return KeyRange(lower: Key(prefix + (low ?? [])), upper: end)
        }
    }

    /// The least key that is greater than all that begin with `key`.
    private static func after(_ key: [UInt8]) -> [UInt8] {
        var key = key
        while let last = key.last {
            key.removeLast()
            if last < 0xFF { return key + [last + 1] }
        }
        return [0xFF, 0xFF, 0xFF, 0xFF]
    }
}

/// The documents that rows of an index lead to, each once.
final class IndexedRows: RowSource {
    private let number: Int
    private let snapshot: CollectionSnapshot
    private let reader: IndexReader
    private let isReversed: Bool
    private let counter: WorkCounter
    /// The ranges that were not begun, the next one last.
    private var ranges: [KeyRange]
    private var cursor: IndexCursor?
    /// The documents seen, where an index has several rows of one.
    private var seen: Set<[UInt8]>?
    private let mark: Arena.Mark
    private let budget: MemoryBudget

    init(
        _ frame: Frame, _ number: Int, _ snapshot: CollectionSnapshot, _ choice: IndexChoice,
        _ counter: WorkCounter,
        _ budget: MemoryBudget
    ) {
        self.number = number
        self.snapshot = snapshot
        reader = choice.reader
        isReversed = choice.access.isReversed
        self.counter = counter
        self.budget = budget
        ranges = isReversed ? choice.ranges : choice.ranges.reversed()
        seen = choice.access.index.array == nil ? nil : []
        mark = frame.arena.mark
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        frame.arena.release(to: mark)
        while let id = try nextID() {
            if counter.entries & 255 == 0 { try counter.checkCancellation() }
            counter.documents += 1
            let (frame, number) = (frame, number)
            let isThere = try id.withView { (view) throws(DatabaseError) in
                try snapshot.withBody(view) { metadata, body in
                    frame.setRow(
                        number, Value(FleeceNode(root: frame.arena.copy(body))),
                        RowMetadata(id: frame.arena.copy(view), body: metadata))
                }
            }
            if isThere { return true }
        }
        return false
    }

    private func nextID() throws(DatabaseError) -> [UInt8]? {
        while true {
            if let cursor {
                do {
                    while try cursor.next() {
                        counter.entries += 1
                        let id = Array(cursor.row.documentID)
                        if seen != nil {
                            guard seen?.insert(id).inserted == true else { continue }
                            try budget.take(id.count + 32)
                        }
                        return id
                    }
                } catch {
                    throw DatabaseError(derived: error)
                }
                self.cursor = nil
            }
            guard let range = ranges.popLast() else { return nil }
            cursor = reader.cursor(range, descending: isReversed)
        }
    }
}
