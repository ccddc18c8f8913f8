import Roost
import RoostBytes
import RoostStorage

/// The rows of an index as of one moment of its collection, to be read from any thread.
package final class IndexReader: Sendable {
    /// The moment.
    package let collection: CollectionSnapshot
    /// The sequence and the purge sequence up to which the index was kept when it was read; what came later was looked at
    /// then.
    package let sequence: UInt64
    let rows: TreeView?
    let overlay: IndexOverlay
    private let reduction: IndexReduction?

    init(
        _ collection: CollectionSnapshot, sequence: UInt64, rows: TreeView?, overlay: IndexOverlay,
        reduction: IndexReduction?
    ) {
        self.collection = collection
        self.sequence = sequence
        self.rows = rows
        self.overlay = overlay
        self.reduction = reduction
    }

    /// Whether it shows what is kept of the index and nothing else.
    package var isKept: Bool { rows != nil && overlay.isEmpty }

    /// How many rows there are in `range`. O(log n).
    package func count(in range: KeyRange = .all) throws(StoreError) -> UInt64 {
        let stored = try rows?.count(in: range) ?? 0
        guard !overlay.isEmpty else { return stored }
        return stored &- UInt64(overlay.hidden(in: range).count) &+ UInt64(overlay.added(in: range).count)
    }

    /// A cursor over the rows in `range`, before the first of them; after the last one if it goes backwards.
    package func cursor(_ range: KeyRange = .all, isDescending: Bool = false) -> IndexCursor {
        IndexCursor(self, range, isDescending: isDescending)
    }

    /// A cursor at the first row in `range`, at the last one if it goes backwards; `nil` where there is none.
    package func first(in range: KeyRange, isDescending: Bool = false) throws(StoreError) -> IndexCursor? {
        let cursor = cursor(range, isDescending: isDescending)
        return try cursor.next() ? cursor : nil
    }

    /// The value of the index's reduction over the rows in `range`; `nil` where there are none. O(log n), and that again for
    /// each row that has changed since the index was kept up.
    ///
    /// - Throws: what the reduction throws.
    package func reduce(in range: KeyRange = .all) throws -> [UInt8]? {
        guard let reduction else { return nil }
        guard !overlay.isEmpty else { return try stored(range) }
        var values: [[UInt8]] = []
        var lower = range.lower
        var hidden = overlay.hidden(in: range)
        var added = overlay.added(in: range)
        while !hidden.isEmpty || !added.isEmpty {
            let gap = hidden.first.map { overlay.hidden[$0] }
            let row = added.first.map { overlay.added[$0] }
            if let gap, row.map({ gap <= Key($0.key) }) ?? true {
                if let value = try stored(KeyRange(lower: lower, upper: gap)) { values.append(value) }
                lower = Key(gap.bytes + [0])
                hidden.removeFirst()
            } else if let row {
                if let value = try stored(KeyRange(lower: lower, upper: Key(row.key))) {
                    values.append(value)
                }
                lower = max(lower ?? [], Key(row.key))
                values.append(try reduction.value(of: row))
                added.removeFirst()
            }
        }
        if let value = try stored(KeyRange(lower: lower, upper: range.upper)) { values.append(value) }
        return try reduction.value(of: values)
    }

    /// As ``reduce(in:)``, of only those rows that `includes` lets in. O(n) for n rows in the range.
    package func reduce(in range: KeyRange, where includes: (IndexRowView) throws -> Bool) throws -> [UInt8]?
    {
        guard let reduction else { return nil }
        let cursor = cursor(range)
        var total: [UInt8]?
        while true {
            var reducer = reduction.begin()
            var count = 0
            while count < Self.longestRun, try cursor.next() {
                try Task.checkCancellation()
                let row = cursor.row
                guard try includes(row) else { continue }
                try reducer.add(row)
                count += 1
            }
            if count > 0 {
                let value = try reducer.value()
                total = try total.flatMap { try reduction.value(of: [$0, value]) } ?? value
            }
            if count < Self.longestRun { return total }
        }
    }

    /// How many rows are reduced at once where the tree's own values don't serve: it bounds the memory.
    private static let longestRun = 1_000

    /// Calls `body` with the value of the index's reduction over each group of neighbouring rows in `range`, in the order of
    /// their keys, until it returns `false`.
    ///
    /// - Parameter upperBound: given a group's first row, says the first key in the tree behind the group, within `range`.
    /// - Throws: what the reduction throws.
    package func forEachGroup(
        in range: KeyRange, endingBefore upperBound: (_ first: IndexRowView) throws -> Key,
        _ body: (_ value: [UInt8]) throws -> Bool
    ) throws {
        if overlay.isEmpty {
            try rows?.forEachGroup(in: range) { key, value in
                try key.withView { try upperBound(try IndexRowView(kept: $0, value)) }
            } _: {
                try body($0)
            }
            return
        }
        var rest = range
        while let first = try first(in: rest) {
            defer { extendLifetime(first) }
            let upper = try upperBound(first.row)
            let value = try reduce(in: KeyRange(lower: rest.lower, upper: upper))
            guard let value, try body(value) else { return }
            rest = KeyRange(lower: upper, upper: range.upper)
        }
    }

    private func stored(_ range: KeyRange) throws -> [UInt8]? {
        if let lower = range.lower, let upper = range.upper, upper <= lower { return nil }
        return try rows?.reduction(in: range)
    }
}
