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
