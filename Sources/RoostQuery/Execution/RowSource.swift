import Fleece
import Roost
import RoostBytes
import RoostOrder

/// Sets the rows of one or more sources in a frame, one combination after the other.
class RowSource {
    let frame: Frame

    init(_ frame: Frame) { self.frame = frame }

    /// Goes to the next combination; `false` after the last.
    func next() throws(DatabaseError) -> Bool { false }
}

/// Keeps the combinations for which conditions hold.
final class FilteredRows: RowSource {
    private let rows: RowSource
    private let filters: [Evaluation]

    init(_ rows: RowSource, _ filters: [Evaluation]) {
        self.rows = rows
        self.filters = filters.map(unshared)
        super.init(rows.frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        next: while try rows.next() {
            for filter in filters where !Logic.holds(filter(frame)) {
                try frame.check()
                continue next
            }
            return true
        }
        return false
    }
}

/// Counts the combinations that come by, as `explain` wants it.
final class CountedRows: RowSource {
    private let rows: RowSource
    private let number: Int
    private let counter: WorkCounter

    init(_ rows: RowSource, _ number: Int, _ counter: WorkCounter) {
        self.rows = rows
        self.number = number
        self.counter = counter
        super.init(rows.frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        guard try rows.next() else { return false }
        counter.countRow(of: number)
        return true
    }
}

/// Each row of the sources before, with each row of one more source.
final class JoinedRows: RowSource {
    private let outer: RowSource
    private let makeInner: () throws(DatabaseError) -> RowSource
    private let conditions: [Evaluation]
    private let isLeft: Bool
    private let number: Int
    private let counter: WorkCounter
    private var untilCheck = 0
    private var inner: RowSource?
    private var hasMatched = false

    private static let checkInterval = 1024

    init(
        _ outer: RowSource, _ source: SourcePlan, _ counter: WorkCounter,
        _ makeInner: @escaping () throws(DatabaseError) -> RowSource
    ) {
        self.outer = outer
        self.counter = counter
        self.makeInner = makeInner
        conditions = source.on.map { unshared($0.holds) }
        isLeft = source.join == .left
        number = source.number
        super.init(outer.frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        while true {
            if let inner {
                while try inner.next() {
                    // Rows that are in memory are read by nobody who would ask.
                    if untilCheck == 0 {
                        try counter.checkCancellation()
                        untilCheck = Self.checkInterval
                    }
                    untilCheck -= 1
                    guard conditions.allSatisfy({ Logic.holds($0(frame)) }) else {
                        try frame.check()
                        continue
                    }
                    hasMatched = true
                    return true
                }
                self.inner = nil
                if isLeft, !hasMatched {
                    frame.setRow(number, .missing, nil)
                    return true
                }
            }
            guard try outer.next() else { return false }
            hasMatched = false
            inner = try makeInner()
        }
    }
}

/// The elements of an array of the sources before.
final class ElementRows: RowSource {
    private let number: Int
    private var elements: Value.Elements?

    init(_ frame: Frame, _ number: Int, _ value: Evaluation) {
        self.number = number
        elements = value(frame).arrayElements
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        guard let element = elements?.next() else { return false }
        frame.setRow(number, element, nil)
        return true
    }
}

/// The rows of a query in FROM.
final class QueryRows: RowSource {
    private let number: Int
    private let cursor: RowCursor
    /// The end of the arena before the present row was put there.
    private var mark: Arena.Mark?

    init(_ frame: Frame, _ number: Int, _ plan: QueryPlan, _ execution: Execution) throws(DatabaseError) {
        self.number = number
        cursor = try execution.cursor(of: plan)
        super.init(frame)
    }

    override func next() throws(DatabaseError) -> Bool {
        if let mark { frame.arena.release(to: mark) }
        guard let row = try cursor.next() else { return false }
        mark = frame.arena.mark
        frame.setRow(number, cursor.dictionary(of: row, frame), nil)
        return true
    }
}
