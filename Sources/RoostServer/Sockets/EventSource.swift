import Dispatch

/// A source of Dispatch's: calls a function when a descriptor is ready, or when time has passed.
///
/// Unchecked: Dispatch's objects may be used from any thread, which their types don't say, and nothing else is in here.
final class EventSource: @unchecked Sendable {
    private let source: any DispatchSourceProtocol

    private init(_ source: any DispatchSourceProtocol) { self.source = source }

    /// Fires when there is something to read, or the peer has ended.
    static func reading(_ descriptor: Int32, on queue: DispatchQueue) -> EventSource {
        EventSource(DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue))
    }

    /// Fires when there is room for something to be written.
    static func writing(_ descriptor: Int32, on queue: DispatchQueue) -> EventSource {
        EventSource(DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue))
    }

    /// Fires every so many seconds.
    static func timer(_ interval: Double, on queue: DispatchQueue) -> EventSource {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now() + interval, repeating: interval)
        return EventSource(source)
    }

    func onEvent(_ call: @escaping @Sendable () -> Void) { source.setEventHandler(handler: call) }

    /// Calls when the source has stopped looking at its descriptor.
    func onCancel(_ call: @escaping @Sendable () -> Void) { source.setCancelHandler(handler: call) }

    func activate() { source.activate() }
    func suspend() { source.suspend() }
    func resume() { source.resume() }
    func cancel() { source.cancel() }
}
