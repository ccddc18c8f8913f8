import RoostBytes
import RoostStorage

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
