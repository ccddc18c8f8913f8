/// ```swift
/// for try await document in try notes.snapshot() { … }      // one document in memory at a time
/// for document in try notes.documents(limit: 10) { … }      // without tasks, all in memory
/// ```
///
/// Documents that are not deleted come in the order of their IDs. Reading may fail, which a loop without `try` could not tell
/// from the end.
extension CollectionSnapshot: AsyncSequence {
    /// A document.
    public typealias Element = Document
    /// What reading throws.
    public typealias Failure = DatabaseError

    /// An iterator before the first document.
    public func makeAsyncIterator() -> Iterator { Iterator(snapshot: self) }

    /// Walks over the documents. Belongs to one task; never suspends it.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let snapshot: CollectionSnapshot
        private var cursor: DocumentCursor?

        fileprivate init(snapshot: CollectionSnapshot) { self.snapshot = snapshot }

        /// The next document; `nil` after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(DatabaseError) -> Document? {
            if cursor == nil { cursor = try snapshot.cursor() }
            return try cursor?.next()
        }
    }
}
