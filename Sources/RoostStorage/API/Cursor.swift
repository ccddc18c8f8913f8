import RoostBytes

/// Walks a range of keys in both directions.
///
/// A new cursor stands between the ends: ``next()`` goes to the first key, ``previous()`` to the last. It holds a copy
/// of one leaf and nothing else, so an open cursor keeps no memory and blocks nobody. Use it from one thread at a time.
public final class Cursor {
    private let reader: TreeReader
    /// What it walks over.
    package let range: KeyRange
    private let image = LeafImage()
    private var place = LeafPlace()
    private var index = -1
    /// The entries of the present leaf that are in the range.
    private var inRange = 0..<0
    private var position = Position.unset
    private var current = Entry.inline(.empty)
    /// Reads values elsewhere.
    private let values: ValueWindow
    private let keyBuffer = ByteBuffer()
    /// Where values are found in the file's mapping: asked without counting a reference to the file, which readers on other
    /// threads share.
    private let places: MappedPlaces?
    private let lostPages: Int
    /// Whether the values of the present leaf were looked at for being far apart.
    private var isPrefetched = false
    /// Whether a value was read, so that the next one shows a scan, which reads the others, too.
    private var hasReadValue = false
    private var isBackwards = false

    private enum Position { case unset, entry, end, start }

    init(reader: TreeReader, range: KeyRange) {
        self.reader = reader
        self.range = range
        values = ValueWindow(file: reader.file)
        places = reader.file.mappedPlaces
        lostPages = places?.lostPages.value ?? 0
        if range.isEmpty { position = .end }
    }

    // MARK: Moving

    /// Goes to the next key; `false` when there is none left in the range.
    public func next() throws(StoreError) -> Bool {
        isBackwards = false
        switch position {
        case .end: return false
        case .unset, .start:
            try locate(range.lower.map { .key($0.bytes) } ?? .first)
            index = inRange.lowerBound
            return try settleForwards()
        case .entry:
            index += 1
            return try settleForwards()
        }
    }

    /// Goes to the key before; `false` when there is none left in the range.
    public func previous() throws(StoreError) -> Bool {
        isBackwards = true
        switch position {
        case .start: return false
        case .unset, .end:
            guard !range.isEmpty else { return false }
            try locate(range.upper.map { .below($0.bytes) } ?? .last)
            index = inRange.upperBound - 1
            return try settleBackwards()
        case .entry:
            index -= 1
            return try settleBackwards()
        }
    }

    /// Goes to the first key in the range that is not less than `key`; `false` when there is none.
    public func seek(_ key: Key) throws(StoreError) -> Bool {
        guard !range.isEmpty else { return false }
        let key = max(key, range.lower ?? [])
        try locate(.key(key.bytes))
        index = key.bytes.withView { image.page.search($0).index }
        return try settleForwards()
    }

    package func seek(_ key: ByteView) throws(StoreError) -> Bool { try seek(Key(key.array)) }

    /// Goes to the `offset`-th key of the range, counted from 0; `false` when there are fewer. O(log n).
    public func seek(offset: UInt64) throws(StoreError) -> Bool {
        guard !range.isEmpty else { return false }
        let (position, isPast) = try
            (range.lower.map { (key) throws(StoreError) in try reader.rank(key.bytes) } ?? 0)
            .addingReportingOverflow(offset)
        guard !isPast, position < reader.count else { return finish(.end) }
        try locate(.position(position))
        index = Int(clamping: position &- place.before)
        return try settleForwards()
    }

    /// Makes `index` valid by going to later leaves, and reads the entry there.
    private func settleForwards() throws(StoreError) -> Bool {
        while index >= image.count {
            guard let next = place.upper else { return finish(.end) }
            try locate(.key(next))
            // Separators out of order, as damage may leave them, would lead in circles.
            if let upper = place.upper, !next.lexicographicallyPrecedes(upper) { throw disorder }
            index = 0
        }
        guard index < inRange.upperBound else { return finish(.end) }
        return try settle()
    }

    private func settleBackwards() throws(StoreError) -> Bool {
        while index < 0 {
            guard let lower = place.lower else { return finish(.start) }
            try locate(.below(lower))
            if let next = place.lower, !next.lexicographicallyPrecedes(lower) { throw disorder }
            index = image.count - 1
        }
        guard index >= inRange.lowerBound else { return finish(.start) }
        return try settle()
    }

    private var disorder: StoreError {
        reader.file.damaged("branch nodes with separators out of order", .nowhere)
    }

    private func settle() throws(StoreError) -> Bool {
        // The file is asked for nothing but the error: cursors on other threads would share the count of its references.
        do throws(MalformedBytes) {
            current = try image.page.entry(index)
        } catch {
            throw reader.file.damaged("a malformed node", .nowhere)
        }
        position = .entry
        return true
    }

    private func finish(_ end: Position) -> Bool {
        position = end
        return false
    }

    /// How many keys there are in the range, if all of them are in the leaf that the cursor is at, which knows them then; `nil`
    /// where others may be elsewhere. O(1).
    package var countInLeaf: Int? {
        guard position == .entry, place.lower == nil || inRange.lowerBound > 0,
            place.upper == nil || inRange.upperBound < image.count
        else { return nil }
        return inRange.count
    }

    // MARK: Reading

    private func requireEntry() {
        precondition(position == .entry, "the cursor is not at an entry: the last move returned false")
    }

    /// The key that the cursor is at.
    public var key: Key {
        requireEntry()
        return Key(image.page.key(index))
    }

    /// The key that the cursor is at; valid until the cursor is used again.
    @usableFromInline
    package var keyView: ByteView {
        requireEntry()
        keyBuffer.reset()
        image.page.appendKey(index, to: keyBuffer)
        return keyBuffer.view
    }

    /// The bytes in the leaf beside a value elsewhere; valid until the cursor moves.
    package var inline: ByteView {
        requireEntry()
        return current.inline
    }

    /// The value elsewhere that the entry leads to.
    package var reference: ValueReference? {
        requireEntry()
        return current.value
    }

    /// The value that the cursor is at. Values that stand beside each other in the file are read together.
    public func value() throws(StoreError) -> [UInt8] {
        let value = try valueView().array
        try checkMapping()
        return value
    }

    /// Calls `body` with the key and the value, valid during the call; saves the arrays.
    @inlinable
    public func withEntry<R>(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> R
    ) throws(StoreError) -> R {
        let value = try valueView()
        let result = unsafe body(keyView.buffer, value.buffer)
        try checkMapping()
        return result
    }

    /// Refuses what was read when a page of the file was lost since the cursor was made.
    @usableFromInline
    package func checkMapping() throws(StoreError) {
        guard let places, places.lostPages.value != lostPages else { return }
        try reader.file.checkMapping(since: lostPages)
    }

    /// The value that the cursor is at; valid until the cursor is used again. ``checkMapping()`` says afterwards whether it
    /// was what the file holds.
    @usableFromInline
    package func valueView() throws(StoreError) -> ByteView {
        requireEntry()
        guard current.kind != .none else { return current.inline }
        if hasReadValue, !isPrefetched { prefetchValues() }
        hasReadValue = true
        if let value = values.mapped(current.chunk) { return value }
        let (page, start, stop) = (image.page, index, inRange.upperBound)
        return try values.read(current.chunk) { distance in
            guard start + distance < stop, let entry = try? page.entry(start + distance), entry.kind != .none
            else { return nil }
            return entry.chunk
        }
    }

    private func locate(_ target: LeafTarget) throws(StoreError) {
        isPrefetched = false
        place = try reader.locate(target, into: image)
        let page = image.page
        let start = range.lower.map { key in key.bytes.withView { page.search($0).index } } ?? 0
        let end = range.upper.map { key in key.bytes.withView { page.search($0).index } } ?? image.count
        inRange = start..<max(start, end)
    }

    /// Has the processor fetch the values of the leaf that a scan reads after the present one, where they don't follow each other
    /// in the file: it would wait for each of them.
    @inline(never)
    private func prefetchValues() {
        isPrefetched = true
        guard let places else { return }
        let first = isBackwards ? inRange.lowerBound : index + 1
        var end: UInt64?
        for index in first..<max(isBackwards ? index : inRange.upperBound, first) {
            guard let entry = try? image.page.entry(index) else { return }
            guard entry.kind != .none else { continue }
            let isNear = end.map { entry.chunk.offset &- $0 < Cursor.near } ?? false
            if !isNear { places.prefetch(entry.chunk) }
            end = entry.chunk.end
        }
    }

    /// Values that are no further apart in the file are fetched by the processor by itself.
    private static let near: UInt64 = 256
}
