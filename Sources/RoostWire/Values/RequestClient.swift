/// Who waits for an answer at the other end of a connection.
public protocol RequestClient: Sendable {
    /// Has `hangUp` called, once, when the client ends its side before ``stopWatching()``. One watches at a time.
    func watch(_ hangUp: @escaping @Sendable () -> Void)
    /// Ends a watch.
    func stopWatching()
}
