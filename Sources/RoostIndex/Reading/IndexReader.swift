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

// MARK: - Index cursor

/// Walks over the rows of an index in one direction. Use it from one thread at a time.
package final class IndexCursor {
    private let reader: IndexReader
    private let isDescending: Bool
    private let stored: Cursor?
    /// The row of the tree that comes next, once it was looked for.
    private var coming: IndexRowView?
    private var isStoredAtEnd: Bool
    /// The places of added rows that are still to come.
    private var added: Range<Int>
    private var current: IndexRowView?
    /// The bytes of the tree's row where they would not stay otherwise for as long as the cursor is at it; those of an added one.
    private lazy var storedBytes = ByteBuffer()
    private lazy var addedBytes = ByteBuffer()

    init(_ reader: IndexReader, _ range: KeyRange, isDescending: Bool) {
        self.reader = reader
        self.isDescending = isDescending
        stored = reader.rows?.cursor(range)
        isStoredAtEnd = stored == nil
        added = reader.overlay.added(in: range)
    }

    /// The row that the cursor is at, valid until the cursor is used again.
    package var row: IndexRowView {
        guard let current else {
            preconditionFailure("the cursor is at no row: the last move returned false")
        }
        return current
    }

    /// Goes to the next row; `false` after the last.
    package func next() throws(StoreError) -> Bool {
        try fetch()
        let overlaid = (isDescending ? added.last : added.first).map { reader.overlay.added[$0] }
        if let overlaid, coming.map({ precedes(overlaid, $0) }) ?? true {
            if isDescending { added.removeLast() } else { added.removeFirst() }
            current = try overlaid.key.withView { (key) throws(StoreError) in
                try overlaid.value.withView { (value) throws(StoreError) in
                    try copy(of: key, value, in: addedBytes)
                }
            }
            return true
        }
        current = coming
        coming = nil
        return current != nil
    }

    /// How many rows there are, if they stand beside each other where the cursor begins, which costs no more than going to the
    /// first of them; `nil` where they have to be counted otherwise. The next move goes to the first row.
    package func countNearby() throws(StoreError) -> Int? {
        guard reader.overlay.isEmpty, current == nil else { return nil }
        try fetch()
        return isStoredAtEnd ? 0 : stored?.countInLeaf
    }

    private func precedes(_ a: IndexRow, _ b: IndexRowView) -> Bool {
        let order = a.key.withView { $0.compare(b.key) }
        return isDescending ? order > 0 : order < 0
    }

    /// Passes over `count` rows. O(log n), and as many steps as rows have changed since the index was kept up.
    package func skip(_ count: UInt64) throws(StoreError) {
        guard count > 0 else { return }
        var left = count
        if current == nil, coming == nil, let rows = reader.rows, let stored {
            // Before that row of the tree come no more than `count` rows, as there are no more added ones than these.
            let range = stored.range
            let total = try rows.count(in: range)
            guard UInt64(reader.overlay.hidden(in: range).count) <= total else {
                throw IndexStore.malformed("fewer rows than documents have")
            }
            let start = count > UInt64(added.count) ? min(count - UInt64(added.count), total) : 0
            guard start > 0 else { return try step(left) }
            if start == total {
                isStoredAtEnd = true
                left -= start - UInt64(reader.overlay.hidden(in: range).count)
                return try step(left)
            }
            guard try stored.seek(offset: isDescending ? total - 1 - start : start) else {
                return try step(left)
            }
            let place = stored.key
            let key = stored.keyView
            let passed =
                isDescending
                ? KeyRange(lower: Key(place.bytes + [0]), upper: range.upper)
                : KeyRange(lower: range.lower, upper: place)
            let before = reader.overlay.added(in: passed)
            let hidden = UInt64(reader.overlay.hidden(in: passed).count)
            guard hidden <= start, start - hidden + UInt64(before.count) <= left else {
                throw IndexStore.malformed("ranks that are no ranks")
            }
            left -= start - hidden + UInt64(before.count)
            added = isDescending ? added.lowerBound..<before.lowerBound : before.upperBound..<added.upperBound
            coming = reader.overlay.hides(key) ? nil : try row(of: stored, key)
        }
        try step(left)
    }

    private func step(_ count: UInt64) throws(StoreError) {
        var left = count
        while left > 0, try next() { left -= 1 }
    }

    /// Looks for the row of the tree that comes next.
    private func fetch() throws(StoreError) {
        guard coming == nil, !isStoredAtEnd, let stored else { return }
        while try isDescending ? stored.previous() : stored.next() {
            let key = stored.keyView
            guard reader.overlay.hides(key) else {
                coming = try row(of: stored, key)
                return
            }
        }
        isStoredAtEnd = true
    }

    /// The row that a cursor over the tree is at, of which `key` is the key.
    private func row(of stored: Cursor, _ key: ByteView) throws(StoreError) -> IndexRowView {
        guard stored.reference != nil else { return try IndexRowView(kept: key, stored.inline) }
        // A value elsewhere may be read from a mapping, and is only what the file holds if no page was lost.
        let row = try copy(of: key, try stored.valueView(), in: storedBytes)
        try stored.checkMapping()
        return row
    }

    private func copy(
        of key: ByteView, _ value: ByteView, in buffer: ByteBuffer
    ) throws(StoreError) -> IndexRowView {
        buffer.reset()
        buffer.append(key)
        buffer.append(value)
        return try IndexRowView(kept: buffer.view.slice(0, key.count), buffer.view.dropFirst(key.count))
    }
}
