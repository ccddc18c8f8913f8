import Roost

extension CollectionView where Key: Equatable, Value: Equatable {
    /// The rows that `query` tells, at once and whenever they change; the latest only, for a consumer that takes its time.
    ///
    /// Commits that leave these rows as they are give no news. It ends when its task is cancelled, and throws what reading
    /// throws, such as when the collection was dropped.
    public func updates(_ query: ViewQuery = ViewQuery()) -> AsyncThrowingStream<
        ViewRows<Key, Value>, any Error
    > {
        let view = self
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (changes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let observation = collection.database.observeEvents { event in
                if case .closed = event { waker.finish() } else { waker.yield() }
            }
            let task = Task {
                defer { observation.cancel() }
                do {
                    var last = try view.rows(query)
                    continuation.yield(last)
                    for await _ in changes {
                        let next = try view.rows(query)
                        if next.rows != last.rows { continuation.yield(next) }
                        last = next
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
