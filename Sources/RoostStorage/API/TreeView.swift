import RoostBytes

/// A tree at one point in time, to be read.
///
/// From a ``Snapshot`` it can be used from any thread; every call is one walk down the tree.
@safe public struct TreeView: Sendable {
    /// Reads the tree; kept by ``owner``.
    private let unownedReader: Unmanaged<TreeReader>
    /// The snapshot to which the tree belongs, so that reading counts references to what one thread has to itself rather
    /// than to what all share; or the reader itself.
    private let owner: any AnyObject & Sendable

    /// - Parameter owner: what keeps `reader`.
    @unsafe init(_ reader: Unmanaged<TreeReader>, of owner: any AnyObject & Sendable) {
        unsafe unownedReader = reader
        self.owner = owner
    }

    var reader: TreeReader { unsafe unownedReader.takeUnretainedValue() }

    /// Runs `body` with the reader without counting a reference to it.
    @inline(__always)
    private func withReader<R>(_ body: (TreeReader) throws(StoreError) -> R) throws(StoreError) -> R {
        // A view keeps its owner, and whoever calls a view keeps the view.
        defer { extendLifetime(owner) }
        let result: Result<R, StoreError> = unsafe unownedReader._withUnsafeGuaranteedRef { reader in
            do throws(StoreError) {
                return .success(try body(reader))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// How many keys there are. O(1).
    public var count: UInt64 { reader.count }

    /// About how many bytes of the file the tree's nodes and the values that its entries own take. O(1).
    package var storedBytes: UInt64 { reader.root.summary.bytes }

    /// The value under `key`, `nil` when there is none. O(log n), and one read for a value outside the leaf.
    public func value(_ key: Key) throws(StoreError) -> [UInt8]? {
        try key.bytes.withView { (key) throws(StoreError) in try value(key) }
    }

    /// The value under `key`; as ``value(_:)-(Key)``, without an array for the key.
    public func value(_ key: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8]? {
        unsafe try value(ByteView(key))
    }

    package func value(_ key: ByteView) throws(StoreError) -> [UInt8]? {
        var value: [UInt8]?
        _ = try visitValue(key) { value = $0.array }
        return value
    }

    /// Whether there is a value under `key`. O(log n).
    public func contains(_ key: Key) throws(StoreError) -> Bool {
        try key.bytes.withView { (key) throws(StoreError) in
            try reader.find(key) { (_) throws(StoreError) in }
        }
    }

    /// Calls `body` with the value under `key`, valid during the call, and returns what it returns; `nil` when there
    /// is none. Saves the array that ``value(_:)-(Key)`` makes.
    @inlinable
    public func withValue<R>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(StoreError) -> R? {
        var result: R?
        _ = try visitValue(unsafe ByteView(key)) { unsafe result = body($0.buffer) }
        return result
    }

    // What the generic forms are made of: they are inlined into their callers' modules, where alone they are
    // specialized, and these do the work.

    /// Calls `body` with the value under `key`, valid during the call; returns whether there is one.
    @usableFromInline
    package func visitValue(_ key: ByteView, _ body: (ByteView) -> Void) throws(StoreError) -> Bool {
        try withReader { (reader) throws(StoreError) in
            var chunk: ChunkReference?
            let isFound = try reader.find(key) { (entry) throws(StoreError) in
                if entry.kind == .none { body(entry.inline) } else { chunk = entry.chunk }
            }
            if let chunk { try reader.file.visitValue(chunk, body) }
            return isFound
        }
    }

    /// Calls `body` with the inline bytes of the entry under `key`, valid during the call, and the value that it leads
    /// to, if any; returns whether there is an entry.
    @usableFromInline
    package func visitEntry(
        _ key: ByteView, _ body: (ByteView, ValueReference?) -> Void
    ) throws(StoreError) -> Bool {
        try withReader { (reader) throws(StoreError) in
            try reader.find(key) { (entry) throws(StoreError) in
                body(entry.inline, entry.value)
            }
        }
    }

    /// The values under `keys`, in their order; `nil` where there is none.
    ///
    /// Each node of the tree is visited once, however many keys it leads to: O(m log m + n) for m keys and n nodes on the
    /// ways to them.
    public func values(_ keys: [Key]) throws(StoreError) -> [[UInt8]?] {
        var values = [[UInt8]?](repeating: nil, count: keys.count)
        var chunks: [(index: Int, chunk: ChunkReference)] = []
        try withReader { (reader) throws(StoreError) in
            try BatchLookup(keys, in: reader).run { (index, entry) throws(StoreError) in
                if entry.kind == .none {
                    values[index] = entry.inline.array
                } else {
                    chunks.append((index, entry.chunk))
                }
            }
            for (index, chunk) in chunks { try reader.file.visitValue(chunk) { values[index] = $0.array } }
        }
        return values
    }

    /// Calls `body` in key order with the place in `keys`, the inline bytes and the value of each key that has an entry;
    /// as ``values(_:)``.
    package func forEachEntry(
        of keys: [Key], _ body: (Int, ByteView, ValueReference?) -> Void
    ) throws(StoreError) {
        try withReader { (reader) throws(StoreError) in
            try BatchLookup(keys, in: reader).run { (index, entry) throws(StoreError) in
                body(index, entry.inline, entry.value)
            }
        }
    }

    /// Calls `body` with a value, valid during the call.
    @usableFromInline
    package func visitValue(at reference: ValueReference, _ body: (ByteView) -> Void) throws(StoreError) {
        try withReader { (reader) throws(StoreError) in try reader.file.visitValue(reference.chunk, body) }
    }

    /// Calls `body` with the inline bytes of the entry under `key` and the value that it leads to, if any.
    @inlinable
    package func withEntry<R>(
        _ key: ByteView, _ body: (ByteView, ValueReference?) -> R
    ) throws(StoreError) -> R? {
        var result: R?
        _ = try visitEntry(key) { result = body($0, $1) }
        return result
    }

    /// Calls `body` with a value, valid during the call, and returns what it returns.
    @inlinable
    package func withValue<R>(
        at reference: ValueReference, _ body: (ByteView) -> R
    ) throws(StoreError) -> R {
        var result: R?
        try visitValue(at: reference) { result = body($0) }
        guard let result else { preconditionFailure("a visited value was handed over") }
        return result
    }

    /// How many keys are less than `key`, which need not be there. O(log n).
    public func rank(_ key: Key) throws(StoreError) -> UInt64 { try reader.rank(key.bytes) }

    /// How many keys there are in `range`. O(log n).
    public func count(in range: KeyRange) throws(StoreError) -> UInt64 {
        guard !range.isEmpty else { return 0 }
        return try reader.count(from: range.lower?.bytes, to: range.upper?.bytes)
    }

    /// The tree's own reduction over the keys in `range`; `nil` when there are none.
    ///
    /// O(log n). Where the file holds no value for a subtree, because the function was unknown or threw when it was written,
    /// its entries are reduced: O(n) then. A compaction writes all values anew.
    ///
    /// - Throws: ``StoreError/Code/missingReduction`` when the tree keeps none, or one whose function is not known, and what
    ///   the function throws.
    public func reduction(in range: KeyRange = .all) throws -> [UInt8]? {
        guard !range.isEmpty else {
            _ = try reader.reductionFunction()
            return nil
        }
        return try reader.reduce(from: range.lower?.bytes, to: range.upper?.bytes)
    }

    /// Calls `body` with the first key and the reduction of each group of neighbouring keys in `range`, in key order.
    ///
    /// O(log n) for each group, less for groups within one leaf.
    ///
    /// - Parameters:
    ///   - range: the keys to reduce; groups are cut at its ends.
    ///   - upperBound: given a group's first key, says the first key after the group, `nil` when it takes all that are left.
    ///   - body: returns `false` to stop.
    /// - Throws: as ``reduction(in:)``, and ``StoreError/Code/limitExceeded`` for a group that ends before it begins.
    public func forEachGroup(
        in range: KeyRange = .all, endingBefore upperBound: (_ first: Key) throws -> Key?,
        _ body: (_ first: Key, _ value: [UInt8]) throws -> Bool
    ) throws {
        guard !range.isEmpty else { return }
        try reader.reduceGroups(
            from: range.lower?.bytes, to: range.upper?.bytes,
            endingBefore: { key, _ in try upperBound(Key(key))?.bytes }
        ) { try body(Key($0), $1) }
    }

    /// As ``forEachGroup(in:endingBefore:_:)``; `upperBound` is also told the value of a group's first key, valid during the
    /// call.
    package func forEachGroup(
        in range: KeyRange,
        endingBeforeEntry upperBound: (_ first: [UInt8], _ value: ByteView) throws -> Key?,
        _ body: (_ value: [UInt8]) throws -> Bool
    ) throws {
        guard !range.isEmpty else { return }
        try reader.reduceGroups(from: range.lower?.bytes, to: range.upper?.bytes) { key, entry in
            guard entry.kind != .none else { return try upperBound(key, entry.inline)?.bytes }
            var value: [UInt8] = []
            try reader.file.visitValue(entry.chunk) { value = $0.array }
            return try value.withView { try upperBound(key, $0)?.bytes }
        } _: { _, value in
            try body(value)
        }
    }

    /// A cursor over the keys in `range`, before the first of them.
    public func cursor(_ range: KeyRange = .all) -> Cursor { Cursor(reader: reader, range: range) }

    /// The first key and its value, `nil` in an empty tree.
    public func first() throws(StoreError) -> (key: Key, value: [UInt8])? {
        let cursor = cursor()
        return try cursor.next() ? (cursor.key, try cursor.value()) : nil
    }

    /// The last key and its value, `nil` in an empty tree.
    public func last() throws(StoreError) -> (key: Key, value: [UInt8])? {
        let cursor = cursor()
        return try cursor.previous() ? (cursor.key, try cursor.value()) : nil
    }

    /// Visits entries one after another.
    ///
    /// - Parameters:
    ///   - range: the keys to visit.
    ///   - reversed: whether to go from the last key to the first.
    ///   - limit: how many to visit at most.
    ///   - body: called with each; returns `false` to stop.
    public func forEach(
        in range: KeyRange = .all, reversed: Bool = false, limit: Int = .max,
        _ body: (_ key: Key, _ value: [UInt8]) throws -> Bool
    ) throws {
        let cursor = cursor(range)
        var left = limit
        while left > 0, try reversed ? cursor.previous() : cursor.next() {
            guard try body(cursor.key, try cursor.value()) else { return }
            left -= 1
        }
    }
}

// MARK: - Entries

/// ```swift
/// for try await (key, value) in try snapshot[people] { … }            // one entry in memory at a time
/// for (key, value) in try snapshot[people].entries(limit: 10) { … }   // without tasks, all in memory
/// ```
///
/// Entries come in the order of their keys. Reading may fail, which a loop without `try` could not tell from the end.
extension TreeView: AsyncSequence {
    /// A key and its value.
    public typealias Element = (key: Key, value: [UInt8])
    /// What reading throws.
    public typealias Failure = StoreError

    /// An iterator before the first entry.
    public func makeAsyncIterator() -> Iterator { Iterator(cursor: cursor()) }

    /// Walks over the entries. Belongs to one task; never suspends it.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let cursor: Cursor

        /// The next entry; `nil` after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StoreError) -> Element? {
            try cursor.next() ? (cursor.key, try cursor.value()) : nil
        }
    }

    /// Entries one after another, all in memory at once.
    ///
    /// - Parameters:
    ///   - range: their keys.
    ///   - reversed: whether to go from the last key to the first.
    ///   - limit: how many at most.
    public func entries(
        in range: KeyRange = .all, reversed: Bool = false, limit: Int = .max
    ) throws(StoreError) -> [Element] {
        let cursor = cursor(range)
        var entries: [Element] = []
        while entries.count < limit, try reversed ? cursor.previous() : cursor.next() {
            entries.append((cursor.key, try cursor.value()))
        }
        return entries
    }
}
